import { createConnectToPrimary } from '../../database/postgres/connect-to-primary.ts';
import { migrationTimeout } from '../../database/postgres/migration/migration.ts';
import { type DistributeOptions, type DistributeResult, planDistribution } from './distribute.ts';

/** Moving the plants may take long, and waits for the creates that run. */
const limits = { timeout: migrationTimeout, lockTimeout: migrationTimeout };

/** See `distributePlants` in ../operator.ts. */
export async function distributeOnCitus({
  databaseUrl,
  shards,
  confirm,
}: DistributeOptions): Promise<DistributeResult> {
  const connection = await createConnectToPrimary(databaseUrl, limits)();
  const run = async (text: string) => (await connection.query(text, [], 'objects')).rows;
  try {
    const missing = await planDistribution(run, shards);
    if (missing.steps.length === 0) return { ...missing, isDone: true };
    if (!(await confirm(missing))) return { ...missing, isDone: false };
    for (const { statements } of missing.steps) {
      for (const statement of statements) await run(statement);
    }
    return { ...missing, isDone: true };
  } finally {
    await connection.close();
  }
}
