/**
 * Reads the text of `/metrics`, as far as a person looks at it.
 */

/** Values by name, labels summed up where nobody asks for one. */
export interface Metrics {
  /** Sum of a metric over all of its labels that pass. */
  sum(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Lines that are read. */
const MAX_LINES = 20_000;

/** Parse metrics of Prometheus. A line that is none is left out. */
export function parseMetrics(text: string): Metrics {
  const samples = new Map<string, Sample[]>();
  for (const line of text.split('\n', MAX_LINES)) {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    if (name === undefined) continue;
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', word = '']) => [key, word]);
    const sample = { labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
    samples.set(name, [...(samples.get(name) ?? []), sample]);
  }
  return {
    sum(name, wanted = {}) {
      const found = samples.get(name);
      const fits = found?.filter(({ labels }) => Object.entries(wanted).every(([key, word]) => labels[key] === word));
      return fits?.reduce((total, { value }) => total + value, 0);
    },
  };
}
