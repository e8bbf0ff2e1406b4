import { AggregatorRegistry, Registry } from 'prom-client';
import type { MetricValues } from './metrics.ts';

/** The formats of `/metrics`. Only OpenMetrics has exemplars. */
export const { PROMETHEUS_CONTENT_TYPE: plainText, OPENMETRICS_CONTENT_TYPE: openMetrics } =
  Registry;

type Format = typeof plainText | typeof openMetrics;

/** Writes the metrics of an instance, which are the sums of the metrics of its processes. */
export async function sumMetrics(
  processes: MetricValues[],
  format: Format = plainText,
): Promise<string> {
  const sums = AggregatorRegistry.aggregate<Format>(processes);
  if (format === openMetrics) {
    sums.setContentType(format);
    prepareForOpenMetrics(processes, await sums.getMetricsAsJSON());
  }
  return sums.metrics();
}

/** In a sum, prom-client loses the exemplars and repeats the suffix `_total`. This function corrects both. */
function prepareForOpenMetrics(processes: MetricValues[], sums: MetricValues): void {
  const exemplars = new Map(
    processes
      .flat()
      .flatMap(({ values }: { values: Value[] }) => values)
      .flatMap((value) => (value.exemplar ? [[keyOf(value), value.exemplar]] : [])),
  );
  for (const sum of sums) {
    sum.name = sum.name.replace(/_total$/, '');
    if (exemplars.size === 0) continue;
    for (const value of sum.values as Value[]) value.exemplar = exemplars.get(keyOf(value));
  }
}

/** prom-client's types lack `metricName` and `exemplar`. */
type Value = MetricValues[number]['values'][number] & { metricName?: string; exemplar?: unknown };

const keyOf = ({ metricName, labels }: Value) => `${metricName} ${JSON.stringify(labels)}`;
