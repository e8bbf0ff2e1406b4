import { type Contender, pgbench } from './contenders.ts';
import { hasPgbench } from './pgbench-load.ts';

/** Those of the contenders that this machine has. */
export async function present(contenders: readonly Contender[]): Promise<Contender[]> {
  const lacks = (await hasPgbench()) ? undefined : pgbench.name;
  return contenders.filter(({ name }) => name !== lacks);
}
