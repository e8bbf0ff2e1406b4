import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithThisProcess, freePort } from '@plant-store/test-setup';

const rules = fileURLToPath(new URL('../../../../docs/alerts.yml', import.meta.url));

/** Starts Debian's Prometheus with the rules of docs/alerts.yml. Intervals of 5 s make the test faster. */
export async function startPrometheus(metricsUrl: string) {
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-prometheus-'));
  const config = {
    global: { scrape_interval: '5s', scrape_timeout: '4s', evaluation_interval: '5s' },
    rule_files: [rules],
    scrape_configs: [
      { job_name: 'plant-store', static_configs: [{ targets: [new URL(metricsUrl).host] }] },
    ],
  };
  const file = join(directory, 'prometheus.yml');
  await writeFile(file, JSON.stringify(config)); // JSON is YAML.
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    'prometheus',
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${directory}/data`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  const exit = new Promise((resolve) => child.once('exit', resolve));
  endWithThisProcess(child);
  return {
    /** Returns the names of the alerts that fire. */
    async firing(): Promise<string[]> {
      const { data } = await get<Alerts>(`http://${address}/api/v1/alerts`);
      const names = data.alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => labels.alertname);
      return [...new Set(names)];
    },
    async stop() {
      child.kill();
      await exit;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Alerts {
  data: { alerts: { state: string; labels: { alertname: string } }[] };
}

async function get<T>(url: string): Promise<T> {
  return (await (await fetch(url)).json()) as T; // Prometheus documents the type `T`.
}
