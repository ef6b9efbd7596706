/**
 * Counters and histograms in the text format of Prometheus, with a bounded number of series.
 *
 * They count from the start, without loading a library: most servers are never scraped.
 */

/** Series of one instrument; further label values are counted together. */
const MAX_SERIES = 1_000;

/** Stands for the label values beyond `MAX_SERIES`. */
const OTHER = 'other';

/** Labels of one observation, by name. Every observation of an instrument has the same names. */
export type Labels = Readonly<Record<string, string>>;

/** One sample of a gauge. */
export interface Sample {
  readonly labels?: Labels;
  readonly value: number;
}

/** A number that only grows. */
export class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #values = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  /** Add to the series of these labels. */
  add(labels: Labels = {}, amount = 1): void {
    const key = seriesKey(this.#values, labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + amount);
  }

  /** Return the lines of all series. */
  text(): string {
    const lines = [...this.#values].map(([key, value]) => sampleLine(this.#name, key, value));
    return instrumentText(this.#name, this.#help, 'counter', lines);
  }
}

/** One series of a histogram. */
interface Distribution {
  /** Observations by bucket, not cumulated; the last bucket has no upper bound. */
  readonly counts: number[];
  sum: number;
}

/** A distribution of seconds. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Distribution>();

  /** @param bounds Upper bounds of the buckets in seconds, ascending. */
  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
  }

  /** Record a duration in seconds. */
  observe(labels: Labels, seconds: number): void {
    const key = seriesKey(this.#series, labels);
    let series = this.#series.get(key);
    if (series === undefined) {
      series = { counts: Array<number>(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#series.set(key, series);
    }
    const bucket = this.#bounds.findIndex((bound) => seconds <= bound);
    const index = bucket === -1 ? this.#bounds.length : bucket;
    series.counts[index] = (series.counts[index] ?? 0) + 1;
    series.sum += seconds;
  }

  /** Return the lines of all series, with cumulated buckets. */
  text(): string {
    const lines = [...this.#series].flatMap(([key, { counts, sum }]) => {
      let total = 0;
      const buckets = counts.map((count, index) => {
        total += count;
        const bound = `le="${String(this.#bounds[index] ?? '+Inf')}"`;
        return sampleLine(`${this.#name}_bucket`, key === '' ? bound : `${key},${bound}`, total);
      });
      return [...buckets, sampleLine(`${this.#name}_sum`, key, sum), sampleLine(`${this.#name}_count`, key, total)];
    });
    return instrumentText(this.#name, this.#help, 'histogram', lines);
  }
}

/** Return the lines of a gauge, whose values are read when it is scraped. */
export function gaugeText(name: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(({ labels = {}, value }) => sampleLine(name, labelText(labels), value));
  return instrumentText(name, help, 'gauge', lines);
}

/** Return the key of a series: that of the labels, or that of `OTHER` where there are too many. */
function seriesKey(series: ReadonlyMap<string, unknown>, labels: Labels): string {
  const key = labelText(labels);
  if (series.has(key) || series.size < MAX_SERIES) return key;
  return labelText(Object.fromEntries(Object.keys(labels).map((name) => [name, OTHER])));
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`))}"`)
    .join(',');
}

function sampleLine(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${value}\n`;
}

function instrumentText(name: string, help: string, type: string, lines: readonly string[]): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
