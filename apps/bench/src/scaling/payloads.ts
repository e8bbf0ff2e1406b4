import { randomBytes } from 'node:crypto';
import { oursRest, pgbench } from '../contenders.ts';
import { durations } from '../durations.ts';
import type { Bench } from '../measure.ts';
import type { Options } from '../options.ts';
import { present } from '../present.ts';
import { type Report, reportOf } from '../report.ts';
import { runRounds } from '../rounds.ts';
import { type Content, usualPlant } from '../wire.ts';
import { entry } from './entry.ts';

/** Bodies of 100 bytes and of 10 kilobytes. */
export async function payloads(bench: Bench, { quick }: Options): Promise<Report> {
  const contenders = await present([oursRest, pgbench]);
  const conditions = { connections: 32, ...durations(quick) };
  const summaries = await runRounds(bench, {
    entries: [100, 10_000].flatMap((bytes) => {
      const plant = plantOf(bytes);
      return contenders.map((contender) =>
        entry(contender, `body: ${bytes} B`, { ...conditions, plant }),
      );
    }),
  });
  return reportOf(summaries, { base: summaries[0] });
}

/** A plant whose JSON has about so many bytes, of which Postgres can press few together. */
function plantOf(bytes: number): Content {
  const { tag } = usualPlant;
  const others = JSON.stringify({ id: 1_000_000_000, name: '', tag }).length;
  return {
    name: randomBytes(bytes)
      .toString('base64')
      .slice(0, bytes - others),
    tag,
  };
}
