// Checks that each change of the tables in packages/core/src/tables/tables.ts has a migration.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const core = fileURLToPath(new URL('../packages/core', import.meta.url));
const drizzleKit = fileURLToPath(new URL('node_modules/drizzle-kit/bin.cjs', import.meta.url));
const migrations = join(core, 'drizzle');
const schema = join(core, 'src/tables/tables.ts');

const copy = mkdtempSync(join(tmpdir(), 'plant-store-migrations-'));
cpSync(migrations, copy, { recursive: true });
// drizzle-kit resolves `--out` against its working directory.
const flags = ['generate', '--dialect', 'postgresql', '--schema', schema, '--out', '.'];
const output = execFileSync(process.execPath, [drizzleKit, ...flags], {
  cwd: copy,
  encoding: 'utf8',
});
const added = readdirSync(copy).filter((file) => !readdirSync(migrations).includes(file));
rmSync(copy, { recursive: true });
if (added.length > 0 || !output.includes('No schema changes')) {
  console.error(`${output}\n${schema} has changes without a migration: run npx -y pnpm migrations`);
  process.exitCode = 1;
}
