/**
 * All figures of `/metrics` but those of the process itself.
 */
import { gaugeText, type Sample } from '../src/base/instruments.ts';
import { CallMetrics } from '../src/log/call-metrics.ts';
import type { FrameLog } from '../src/log/frame-log.ts';
import type { McpConnections } from '../src/mcp/connections.ts';
import type { ManagedProcessHost } from '../src/process/host-client.ts';
import type { SessionDirectory } from '../src/session/directory/session-directory.ts';
import type { Tool } from '../src/tool/tool.ts';

/** Parts whose state is read when the metrics are scraped. */
export interface MeasuredParts {
  readonly calls: CallMetrics;
  readonly log: Pick<FrameLog, 'usedBytes' | 'sessionCount'>;
  readonly directory: Pick<SessionDirectory, 'usage'>;
  readonly mcp: Pick<McpConnections, 'states'>;
  readonly processHost: Pick<ManagedProcessHost, 'figures'>;
  readonly networkDenials: () => number;
}

/** Create the metrics of calls. @param tools Built-in tools and those of plugins. */
export function createCallMetrics(tools: () => readonly Tool[]): CallMetrics {
  let origins: ReadonlyMap<string, string> | undefined;
  return new CallMetrics({
    originOf(name) {
      origins ??= new Map(tools().map((tool) => [tool.name, tool.origin?.type ?? 'built_in']));
      return origins.get(name) ?? (name.startsWith('mcp__') ? 'mcp' : 'unknown');
    },
  });
}

/** Return all figures in the text format of Prometheus. */
export function metricsText({ calls, log, directory, mcp, processHost, networkDenials }: MeasuredParts): string {
  const { open, questions, tasks } = directory.usage();
  const asleepCount = Math.max(0, log.sessionCount() - open);
  const host = processHost.figures();
  const gauges: readonly (readonly [name: string, help: string, samples: readonly Sample[]])[] = [
    ['gauntlet_sessions_open', 'Sessions in memory', one(open)],
    ['gauntlet_sessions_asleep', 'Sessions on disk alone', one(asleepCount)],
    ['gauntlet_tasks_running', 'Background tasks that run', one(tasks)],
    ['gauntlet_questions_open', 'Questions that wait for an answer', one(questions)],
    ['gauntlet_question_age_seconds', 'Age of the oldest open question', one(calls.oldestQuestionSeconds)],
    ['gauntlet_mcp_servers', 'MCP servers of the settings by state', byState(mcp.states())],
    ['gauntlet_process_host_up', '1 while the process that starts commands runs', one(host.isRunning ? 1 : 0)],
    ['gauntlet_process_host_losses', 'Process hosts that ended by themselves', one(host.lossCount)],
    ['gauntlet_processes_running', 'Commands and MCP servers that run', one(host.childCount)],
    ['gauntlet_log_bytes', 'Bytes of the log in use', one(log.usedBytes())],
    ['gauntlet_sandbox_network_denials', 'Connections that the sandbox refused', one(networkDenials())],
  ];
  return calls.text() + gauges.map((gauge) => gaugeText(...gauge)).join('');
}

function one(value: number): readonly Sample[] {
  return [{ value }];
}

function byState(states: ReturnType<McpConnections['states']>): readonly Sample[] {
  const names = ['connecting', 'connected', 'needs_auth', 'failed', 'disabled'] as const;
  return names.map((name) => ({
    labels: { state: name },
    value: states.filter(({ state }) => state === name).length,
  }));
}
