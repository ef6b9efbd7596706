/** A collector on loopback that takes spans over OTLP as JSON. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll } from 'vitest';

/** A span that arrived. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** 2 is an error. */
  readonly statusCode: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, string>>;
}

interface OtlpSpan extends Omit<ReceivedSpan, 'startNs' | 'endNs' | 'attributes' | 'statusCode'> {
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status?: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[] }[];
}

/** Start one; it ends with the test file. */
export async function spanReceiver(): Promise<{ readonly url: string; readonly spans: readonly ReceivedSpan[] }> {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      spans.push(...readSpans(body as OtlpRequest));
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

function readSpans({ resourceSpans }: OtlpRequest): readonly ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
    .map(({ startTimeUnixNano, endTimeUnixNano, status, attributes, links = [], ...span }) => ({
      ...span,
      links,
      startNs: BigInt(startTimeUnixNano),
      endNs: BigInt(endTimeUnixNano),
      statusCode: status?.code ?? 0,
      attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? ''])),
    }));
}
