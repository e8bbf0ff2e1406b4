import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  makeSlowFlush,
  startAcknowledgedLoad,
  startFaultProxy,
  startProcess,
} from '@plant-store/test-setup';
import { startPlantsDatabase } from '../faults/plants-database.ts';
import type { Row } from './outage-table.ts';
import type { Outage } from './outages.ts';
import { startPrometheus } from './start-prometheus.ts';
import { authority, useCertificate } from './use-certificate.ts';

/** The milliseconds for which `watch` waits for an alert about the cause of an outage. */
const patience = 120_000;

const token = 'secret-of-the-tests';
const shiftedClock = fileURLToPath(new URL('../fixtures/shifted-clock.ts', import.meta.url));
/** A program that uses 1.2 GB of memory after SIGUSR2. */
const grow = `data:text/javascript,process.once('SIGUSR2',()=>globalThis.held=Buffer.alloc(1.2e9,1))`;
const cli = fileURLToPath(new URL('../../../cli/bin/plant-store.js', import.meta.url));

/** Starts a store with clients and Prometheus, causes the outage, and watches until an alert fires. */
export async function runOutage(outage: Outage): Promise<Row> {
  const ends: (() => unknown)[] = [];
  try {
    return await watch(outage, (end) => ends.unshift(end));
  } finally {
    for (const end of ends) await end();
  }
}

async function watch(
  { name, cause, maxFileSize, isVerified, startDatabase, shell }: Outage,
  onEnd: (end: () => unknown) => void,
): Promise<Row> {
  const disk = makeSlowFlush();
  onEnd(disk.cut);
  const options = { env: disk.env, ...(maxFileSize && { maxFileSize }) };
  const database = await (startDatabase ?? startPlantsDatabase)(options);
  onEnd(database.stop);
  const directory = await mkdtemp(join(tmpdir(), 'plant-store-outage-'));
  onEnd(() => rm(directory, { recursive: true, force: true }));
  const rootCertificate = join(directory, 'authority');
  await writeFile(rootCertificate, authority.certificate);
  if (isVerified) await useCertificate(database);
  const tls = `?sslmode=verify-full&sslrootcert=${rootCertificate}`;
  const proxy = await startFaultProxy(database.url + (isVerified ? tls : ''));
  onEnd(proxy.close);
  const clockShift = join(directory, 'clock-shift');
  await writeFile(clockShift, '0');
  const env = {
    DATABASE_URL: proxy.url,
    PLANT_STORE_TOKEN: token,
    PLANT_STORE_METRICS_PORT: '0',
    PLANT_STORE_WEBHOOK_ALLOW: '127.0.0.1',
    NODE_OPTIONS: `--import=${shiftedClock} --import=${grow}`,
    CLOCK_SHIFT: clockShift,
  };
  const server = startProcess(env, shell);
  onEnd(() => server.child.kill('SIGKILL'));
  const [, metricsUrl = ''] = await server.printed(/Metrics +(\S+)/);
  const target = { url: await server.listening(), token };
  const load = startAcknowledgedLoad(target, 4);
  onEnd(() => void load.stop());
  await load.acknowledged(100);
  const prometheus = await startPrometheus(metricsUrl);
  onEnd(prometheus.stop);
  await isQuiet(prometheus.firing);

  const diagnose = () => doctor(proxy.url, metricsUrl);
  const known = new Set(await diagnose());
  const before = { ...load.seen.outcomes };
  const startedAt = Date.now();
  const world = { database, proxy, server, target, clockShift, disk, onEnd };
  await cause(world);

  const alerts = new Map<string, number>();
  let findings: string[] | undefined;
  while (Date.now() < startedAt + patience && ![...alerts.keys()].some(isCause)) {
    for (const alert of await prometheus.firing()) {
      if (!alerts.has(alert)) alerts.set(alert, Math.round((Date.now() - startedAt) / 1000));
    }
    if (alerts.size > 0) findings ??= await diagnose();
    await setTimeout(1_000);
  }
  findings ??= await diagnose();
  const counts = Object.entries(load.seen.outcomes).map(
    ([outcome, count]) => [outcome, count - (before[outcome] ?? 0)] as const,
  );
  return {
    outage: name,
    alerts: [...alerts].map(([name, seconds]) => ({ name, seconds })),
    doctor: findings.filter((finding) => !known.has(finding)),
    clients: Object.fromEntries(counts.filter(([, count]) => count > 0)),
  };
}

/** Whether an alert is about a cause. The alerts `PlantStoreCreates…` are about missed objectives. */
const isCause = (alert: string) => !/^PlantStoreCreates/.test(alert);

/** Waits until Prometheus has scraped the store and no alert fires. */
async function isQuiet(firing: () => Promise<string[]>): Promise<void> {
  for (let quiet = 0; quiet < 15; ) {
    await setTimeout(1_000);
    const names = await firing().catch(() => ['starting']);
    quiet = names.length === 0 ? quiet + 1 : 0;
  }
}

/** Returns the findings of `plant-store doctor`. Numbers are masked, because most of them change. */
async function doctor(databaseUrl: string, metricsUrl: string): Promise<string[]> {
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL: databaseUrl,
    PLANT_STORE_ENV_FILE: devNull,
  };
  const output = await new Promise<string>((resolve) => {
    const args = [cli, 'doctor', '--metrics', metricsUrl];
    execFile(process.execPath, args, { env, timeout: 60_000 }, (_error, stdout) => resolve(stdout));
  });
  const lines = output.split('\n').filter((line) => /^(problem|warning) /.test(line));
  return lines.map((line) => line.replace(/\b\d+(?:[.:]\d+)*/g, '…').replace(/ +/g, ' '));
}
