import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type FaultProxy,
  hasSlowFlush,
  makeSlowFlush,
  type SlowFlush,
  type StartedProcess,
  startFaultProxy,
  startProcess,
  type TestPostgres,
} from '@plant-store/test-setup';
import {
  type PlantsDatabase,
  startPlantsDatabase,
  startSynchronousStandby,
} from '../faults/plants-database.ts';
import type { DatabaseName } from './schedule.ts';

/** A running server on a database. */
export interface Instance {
  readonly name: string;
  /** The URL is undefined while the instance does not run. */
  readonly url: string | undefined;
  readonly process: StartedProcess;
  /** The network between the instance and its Postgres. */
  readonly network: FaultProxy | undefined;
  kill(): Promise<void>;
  start(): Promise<void>;
}

/** The processes of a history. */
export interface World {
  readonly token: string;
  readonly instances: readonly [Instance, ...Instance[]];
  readonly database: PlantsDatabase | undefined;
  readonly standby: TestPostgres | undefined;
  /** The disk of the database, or undefined when this machine cannot make a disk slow. */
  readonly disk?: SlowFlush | undefined;
  stop(): Promise<void>;
}

/**
 * Starts one instance on an embedded database, or two instances on a Postgres.
 *
 * @param hasStandby whether the Postgres has a synchronous standby
 */
export async function startWorld(name: DatabaseName, hasStandby = false): Promise<World> {
  const cleanUps: (() => unknown)[] = [];
  const token = randomUUID();
  const start = async (letter: string, env: Record<string, string>, network?: FaultProxy) => {
    const instance = await startInstance(letter, { ...env, PLANT_STORE_TOKEN: token }, network);
    cleanUps.push(instance.kill);
    return instance;
  };
  const stop = async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  };
  if (name === 'embedded') {
    const directory = await mkdtemp(join(tmpdir(), 'plant-store-histories-'));
    cleanUps.push(() => rm(directory, { recursive: true, force: true }));
    const instance = await start('A', { PLANT_STORE_DATA_DIR: directory });
    return { token, instances: [instance], database: undefined, standby: undefined, stop };
  }
  const disk = hasSlowFlush ? makeSlowFlush() : undefined;
  const database = await startPlantsDatabase(disk);
  cleanUps.push(database.stop);
  const standby = hasStandby ? await startSynchronousStandby(database) : undefined;
  if (standby) cleanUps.push(standby.stop);
  const startOnPostgres = async (letter: string) => {
    const network = await startFaultProxy(database.url);
    cleanUps.push(network.close);
    return start(letter, { DATABASE_URL: withStandby(network.url, standby) }, network);
  };
  const instances = await Promise.all([startOnPostgres('A'), startOnPostgres('B')]);
  return { token, instances, database, standby, disk, stop };
}

/** Adds the host of the standby to the URL of its primary. */
export function withStandby(primaryUrl: string, standby: TestPostgres | undefined): string {
  return standby ? primaryUrl.replace('@', `@${new URL(standby.url).host},`) : primaryUrl;
}

export async function startInstance(
  name: string,
  env: Record<string, string>,
  network: FaultProxy | undefined,
): Promise<Instance> {
  let url: string | undefined;
  let running: StartedProcess;
  const start = async () => {
    running = startProcess({ ...env, LOG_LEVEL: 'fatal' });
    url = await running.listening();
  };
  await start();
  return {
    name,
    network,
    get url() {
      return url;
    },
    get process() {
      return running;
    },
    start,
    async kill() {
      url = undefined;
      running.child.kill('SIGKILL');
      await running.ended();
    },
  };
}
