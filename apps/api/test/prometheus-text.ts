/** Metrics in Prometheus's text format, as far as it has to do with ours. */
export interface Scrape {
  /** The metrics that are declared, by name. */
  readonly types: ReadonlyMap<string, string>;
  /** The values by name and labels, `name{label="value"}`. */
  readonly samples: ReadonlyMap<string, number>;
  /** The value of a series; 0 where there is none. */
  value(series: string): number;
}

// prom-client writes Nan for NaN; Prometheus takes either.
const line =
  /^(?:# HELP (?<helped>\w+) .+|# TYPE (?<typed>\w+) (?<type>counter|gauge|histogram)|(?<name>\w+)(?<labels>\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? (?<value>[-+]?(?:\d+(?:\.\d+)?(?:e[-+]?\d+)?|Inf)|Nan))$/;

/**
 * Reads a scrape as Prometheus would, and refuses what that would: lines of no such form, series that
 * are there twice or belong to no declared metric, and histograms whose buckets are not cumulative.
 */
export function readPrometheusText(text: string): Scrape {
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  const buckets = new Map<string, number>();
  for (const each of text.split('\n')) {
    if (each === '') continue;
    const { typed, type, name, labels = '', value } = line.exec(each)?.groups ?? refuse(each);
    if (typed && type) types.set(typed, type);
    if (!name) continue;

    const metric = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
    const series = `${name}${labels}`;
    if (!types.has(metric) || samples.has(series)) refuse(each);
    const number = Number(value?.replace('Inf', 'Infinity'));
    samples.set(series, number);

    // The buckets of a histogram stand in order, and the last one has all.
    const histogram = `${metric}${labels.replace(/\{?le="[^"]*",?\}?/, '').replace(/^(?=\w)/, '{')}`;
    const before = buckets.get(histogram) ?? 0;
    if (name.endsWith('_bucket')) {
      if (number < before) refuse(each);
      buckets.set(histogram, number);
    } else if (name === `${metric}_count` && number !== before) refuse(each);
  }
  return { types, samples, value: (series) => samples.get(series) ?? 0 };
}

function refuse(text: string): never {
  throw new Error(`Prometheus would not take this: ${text}`);
}
