/** Which writing an `Accept` header asks for. */
import { describe, expect, it } from 'vitest';
import { writingFor } from '../../routes/frame-text.ts';

const LINES = 'application/x-ndjson; charset=utf-8';
const EVENTS = 'text/event-stream; charset=utf-8';

describe('an Accept header', () => {
  it.each([
    [undefined, undefined],
    ['*/*', undefined],
    ['application/json', undefined],
    ['text/html, application/xml', undefined],
    ['application/x-ndjson', LINES],
    ['text/event-stream', EVENTS],
    ['Text/Event-Stream', EVENTS],
    ['text/event-stream, */*;q=0.1', EVENTS],
    ['*/*, text/event-stream', EVENTS],
    ['image/png, text/event-stream', EVENTS],
    ['image/png', undefined],
    ['text/event-stream; charset=utf-8', EVENTS],
    ['application/json;q=0.5, text/event-stream', EVENTS],
    ['application/json, text/event-stream;q=0.5', undefined],
    ['application/x-ndjson;q=0, application/json', undefined],
    ['application/x-ndjson;q=0', undefined],
    ['text/event-stream;q=nonsense', undefined],
  ])('%s gets what it likes best', (accept, contentType) => {
    expect(writingFor(accept)?.contentType).toBe(contentType);
  });

  it('that likes two alike gets the first', () => {
    expect(writingFor('application/x-ndjson, text/event-stream')?.contentType).toBe(LINES);
    expect(writingFor('text/event-stream, application/json')?.contentType).toBe(EVENTS);
    expect(writingFor('application/json, text/event-stream')).toBeUndefined();
  });
});
