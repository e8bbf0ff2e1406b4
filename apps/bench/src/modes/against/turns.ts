import type { Bench } from '../../measurements/bench.ts';
import { startRunningServer } from '../../measurements/running-server.ts';
import type { Case, CaseName } from './cases.ts';
import { embeddedPlace, postgresPlace } from './place.ts';

/** A case, with the server of one of the two commits. */
export interface Candidate extends Case {
  readonly name: CaseName;
  readonly version: 'before' | 'now';
}

/** The results of one load. CPU times are microseconds for a reply. */
export interface Turn {
  readonly requestsPerSecond: number;
  readonly serverCpu: number;
  readonly databaseCpu: number;
  readonly memory: number;
}

export interface CandidateTurns {
  readonly name: CaseName;
  readonly title: string;
  readonly version: Candidate['version'];
  /** The turns of each round. */
  readonly rounds: Turn[][];
  readonly faults: string[];
}

export interface Durations {
  /** In each round, all servers start anew. */
  readonly rounds: number;
  /** Seconds of load before the turns, at the most: see `warmUp`. */
  readonly warmUp: number;
  /** Turns of each server in a round. */
  readonly turns: number;
  /** Seconds of each turn. */
  readonly seconds: number;
}

/** Starts the servers of all candidates, and puts them under load in turns. */
export async function runTurns(
  bench: Bench,
  candidates: readonly Candidate[],
  { rounds, warmUp, turns, seconds }: Durations,
): Promise<CandidateTurns[]> {
  const measured = candidates.map(({ name, title, version }) => {
    return { name, title, version, rounds: [] as Turn[][], faults: [] as string[] };
  });
  for (let round = 1; round <= rounds; round++) {
    // Every second round, the servers start in reverse order: the last one is a little dearer.
    const inOrder = [...candidates.entries()];
    const entries = round % 2 === 1 ? inOrder : inOrder.toReversed();
    const started: (Started | undefined)[] = candidates.map(() => undefined);
    for (const each of measured) each.rounds.push([]);
    try {
      for (const [index, candidate] of entries) started[index] = await start(bench, candidate);
      for (const [index] of entries) await started[index]?.warmUp(warmUp);
      bench.progress(`round ${round} of ${rounds}: all servers are warm`);
      for (let turn = 0; turn < turns; turn++) {
        // Every second time, the servers take their turns in reverse order.
        const order = [...started.keys()];
        for (const index of turn % 2 === 0 ? order : order.reverse()) {
          const result = await started[index]?.load(seconds);
          if (result) measured[index]?.rounds.at(-1)?.push(result);
        }
      }
    } finally {
      for (const [index, each] of started.entries()) {
        measured[index]?.faults.push(...((await each?.stop()) ?? []));
      }
    }
  }
  return measured;
}

interface Started {
  warmUp(seconds: number): Promise<void>;
  load(seconds: number): Promise<Turn>;
  /** Returns the faults of all loads. */
  stop(): Promise<string[]>;
}

const connections = 32;

async function start(bench: Bench, candidate: Candidate): Promise<Started> {
  const { title, version, server, order } = candidate;
  const place = candidate.isEmbedded ? await embeddedPlace() : await postgresPlace(bench);
  const running = await startRunningServer(bench, place.settings, server, { connections, order });
  let errors = 0;
  let acknowledged = 0;
  const count = (load: { errors: number; replies: number }) => {
    errors += load.errors;
    acknowledged += load.replies * server.format.plants;
  };
  return {
    async warmUp(seconds) {
      for (const load of await running.warmUp(seconds)) count(load);
    },
    async load(seconds) {
      const { load, usage, databaseCpuSeconds = 0 } = await running.load(seconds);
      count(load);
      if (!usage) throw new Error('this machine has no /proc, from which CPU times are read');
      return {
        requestsPerSecond: load.replies / load.seconds,
        serverCpu: (usage.cpuSeconds / load.replies) * 1e6,
        databaseCpu: (databaseCpuSeconds / load.replies) * 1e6,
        memory: usage.memory,
      };
    },
    async stop() {
      await running.stop();
      const lost = acknowledged - ((await place.countPlants()) ?? acknowledged);
      await place.remove();
      const of = `${title}, ${version}`;
      return [
        ...(errors > 0 ? [`${of}: ${errors} errors`] : []),
        ...(lost > 0 ? [`${of}: ${lost} plants answered with 200 are not in the table`] : []),
      ];
    },
  };
}
