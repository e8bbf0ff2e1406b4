import { randomBytes } from 'node:crypto';
import { availableContenders } from '../../contenders/available-contenders.ts';
import { oursRest, pgbench } from '../../contenders/contenders.ts';
import { defaultPlant, type PlantFields } from '../../load/request-format.ts';
import type { Bench } from '../../measurements/bench.ts';
import { loadDurations } from '../../measurements/durations.ts';
import { runRounds } from '../../measurements/rounds.ts';
import { createReport, type Report } from '../../report/report.ts';
import { labelledEntry } from '../labelled-entry.ts';

/** Measures bodies of 100 bytes and of 10 kilobytes. */
export async function payloads(bench: Bench, { quick }: { quick: boolean }): Promise<Report> {
  const contenders = await availableContenders([oursRest, pgbench]);
  const conditions = { connections: 32, ...loadDurations(quick) };
  const summaries = await runRounds(bench, {
    entries: [100, 10_000].flatMap((bytes) => {
      const plant = plantOfSize(bytes);
      return contenders.map((contender) =>
        labelledEntry(contender, `body: ${bytes} B`, { ...conditions, plant }),
      );
    }),
  });
  return createReport(summaries, { base: summaries[0] });
}

/** A plant whose JSON has about this many bytes. Postgres can hardly compress random text. */
function plantOfSize(bytes: number): PlantFields {
  const { tag } = defaultPlant;
  const otherBytes = JSON.stringify({ id: 1_000_000_000, name: '', tag }).length;
  return {
    name: randomBytes(bytes)
      .toString('base64')
      .slice(0, bytes - otherBytes),
    tag,
  };
}
