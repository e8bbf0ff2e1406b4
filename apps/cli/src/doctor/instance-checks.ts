import { setTimeout } from 'node:timers/promises';
import { messageOf } from '../command-line/errors.ts';
import type { Finding } from './finding.ts';

/** The metrics of an instance. `series` is a name with labels, such as `name{label="value"}`. */
interface Metrics {
  /** Returns the current value of a series. */
  value(series: string): number;
  /** Returns the increase of a series per second. */
  rate(series: string): number;
}

interface Question {
  /** The alert in docs/alerts.yml that has the same limit as this question. */
  alert: string;
  value(metrics: Metrics): number;
  limit: number;
  /** What is wrong, and what to do. */
  message: string;
}

export const questions: readonly Question[] = [
  {
    alert: 'PlantStoreOverloaded',
    value: ({ rate }) => rate('plant_store_errors_total{code="50301"}'),
    limit: 0,
    message: 'is overloaded: if the database is not slow, add an instance',
  },
  {
    alert: 'PlantStoreBusy',
    value: ({ value }) => value('nodejs_eventloop_lag_p99_seconds'),
    limit: 0.1,
    message: 'needs more CPU than it has: add CPUs or an instance',
  },
  {
    alert: 'PlantStoreMemory',
    value: ({ value }) => value('process_resident_memory_bytes') / value('plant_store_processes'),
    limit: 1e9,
    message: 'uses too much memory: if no queue is long, restart the instance, and report a leak',
  },
  {
    alert: 'PlantStoreFileDescriptors',
    value: ({ value }) => value('process_open_fds') / value('process_max_fds'),
    limit: 0.8,
    message:
      'has few file descriptors left: raise LimitNOFILE, and find out which clients opened the connections',
  },
  {
    alert: 'PlantStoreGuessedTokens',
    value: ({ rate }) => rate('plant_store_errors_total{code="40101"}'),
    limit: 1,
    message:
      'gets invalid tokens: look at the ip of the clients in the log, because a token has expired, or clients ' +
      'guess tokens',
  },
  {
    alert: 'PlantStoreIdentityProviderDown',
    value: ({ rate }) => rate('plant_store_errors_total{code="50303"}'),
    limit: 0,
    message: 'cannot get the keys of the identity provider: check the provider',
  },
  {
    alert: 'PlantStoreClockWrong',
    value: ({ value }) => Math.abs(value('plant_store_time_seconds') - Date.now() / 1_000),
    limit: 30,
    message: "has a clock that differs from this machine's: set both clocks by NTP",
  },
];

/**
 * Checks a running instance. Reads the metrics twice, `interval` milliseconds apart, to compute the rates.
 */
export async function instanceChecks(url: string, interval = 5_000): Promise<Finding[]> {
  try {
    const before = await readMetrics(url);
    await setTimeout(interval);
    const after = await readMetrics(url);
    const increase = (series: string) => (after.get(series) ?? 0) - (before.get(series) ?? 0);
    const metrics: Metrics = {
      // Each read resets the metrics of Node's event loop, so the greater value of both reads counts.
      value: (series) => Math.max(before.get(series) ?? 0, after.get(series) ?? 0),
      rate: (series) => Math.max(0, increase(series)) / (interval / 1_000),
    };
    const findings = questions
      .filter(({ value, limit }) => value(metrics) > limit)
      .map(({ message }): Finding => {
        return { check: 'instance', level: 'warning', message: `the instance ${message}` };
      });
    if (findings.length > 0) return findings;
    return [
      { check: 'instance', level: 'ok', message: 'the metrics of the instance show no problem' },
    ];
  } catch (error) {
    // `fetch` throws an error whose property `cause` says the reason.
    const reason = messageOf(error instanceof Error ? (error.cause ?? error) : error);
    const message =
      `the instance does not send its metrics (${reason}): check the URL and the log of the ` +
      'instance, and restart an instance that does not respond';
    return [{ check: 'instance', level: 'problem', message }];
  }
}

async function readMetrics(url: string): Promise<Map<string, number>> {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) });
  const lines = (await response.text()).matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm);
  const metrics = new Map([...lines].map(([, series = '', value]) => [series, Number(value) || 0]));
  if (metrics.has('plant_store_processes')) return metrics;
  throw new Error(`status ${response.status}, without the metrics of a plant store`);
}
