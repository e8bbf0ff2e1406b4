import { hasPgbench } from '../load/pgbench-load.ts';
import { type Contender, pgbench } from './contenders.ts';

/** The given contenders without pgbench if it is not installed. */
export async function availableContenders(contenders: readonly Contender[]): Promise<Contender[]> {
  const missing = (await hasPgbench()) ? undefined : pgbench.name;
  return contenders.filter(({ name }) => name !== missing);
}
