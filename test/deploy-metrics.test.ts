/** The dashboard and the alert rules in `deploy/` against what a server exposes and PROTOCOL section 8 promises. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { startServer } from './helpers/built-server.ts';
import { block, wireClient } from './helpers/wire-client.ts';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', path), 'utf8');

const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
  readonly panels: readonly { readonly id: number; readonly targets?: readonly { readonly expr: string }[] }[];
};
const alerts = parse(read('deploy/alerts.yaml')) as {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[];
};
const panelQueries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const alertQueries = alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
const [, section = ''] = /^## 8\..*\n([\s\S]*?)^## 9\./m.exec(read('PROTOCOL.md')) ?? [];
const promised = namesIn(section.replaceAll('`', ' '));
let exposed: ReadonlySet<string>;
let labels: ReadonlyMap<string, ReadonlySet<string>>;

/** Names of metrics in a text; a histogram has one name. */
function namesIn(text: string): ReadonlySet<string> {
  const names = text.match(/\b(gauntlet|process|nodejs)_[a-z0-9_]+/g) ?? [];
  return new Set(names.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
}

beforeAll(async () => {
  const server = await startServer();
  const client = wireClient(server);
  // So that counters have their labels.
  await client.execute(undefined, [block('Glob', { pattern: '*' })]);
  const { text } = await client.get('/metrics');
  exposed = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
  labels = new Map(
    [...text.matchAll(/^(\w+)\{(.*)\} /gm)].map(([, name = '', pairs = '']) => [
      name,
      new Set([...pairs.matchAll(/(\w+)="/g)].map(([, label = '']) => label)),
    ]),
  );
});

it('the server exposes what PROTOCOL promises, and promises what it exposes', () => {
  const own = [...exposed].filter((name) => name.startsWith('gauntlet_'));
  expect([...promised].filter((name) => name.startsWith('gauntlet_')).sort()).toEqual(own.sort());
});

it('panels and alerts query only what the server exposes', () => {
  const asked = [...namesIn([...panelQueries, ...alertQueries].join('\n'))];
  expect(asked.filter((name) => !exposed.has(name))).toEqual([]);
});

it('every metric of PROTOCOL has a panel', () => {
  const shown = namesIn(panelQueries.join('\n'));
  expect([...promised].filter((name) => name.startsWith('gauntlet_') && !shown.has(name))).toEqual([]);
});

it('queries select by labels that the metrics have', () => {
  const selected = [...[...panelQueries, ...alertQueries].join('\n').matchAll(/(gauntlet_\w+)\{([^}]*)\}/g)];
  const wrong = selected.flatMap(([, name = '', matchers = '']) =>
    [...matchers.matchAll(/(\w+)=/g)]
      .map(([, label = '']) => label)
      // Prometheus adds this one. Series that have had no event yet have no labels to compare.
      .filter((label) => label !== 'instance' && labels.has(name) && !labels.get(name)?.has(label))
      .map((label) => `${name}{${label}}`),
  );
  expect(wrong).toEqual([]);
});

it('panels and alerts have names of their own', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  const names = alerts.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
  expect([new Set(ids).size, new Set(names).size]).toEqual([ids.length, names.length]);
});
