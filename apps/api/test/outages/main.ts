import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { formatRow, head } from './outage-table.ts';
import { outages } from './outages.ts';
import { runOutage } from './run-outage.ts';

// Causes outages, and writes a row for each outage in docs/outages.md. The words on the command line select
// outages by name. `--together 3` causes three outages at a time.
const { values, positionals: words } = parseArgs({
  args: process.argv.slice(2).filter((each) => each !== '--'),
  options: { together: { type: 'string', default: '1' } },
  allowPositionals: true,
});
// When this process exits, its exit handlers kill the servers.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const page = fileURLToPath(new URL('../../../../docs/outages.md', import.meta.url));
const left = outages.filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
let isGood = true;
let writing: Promise<void> = Promise.resolve();
await Promise.all(
  Array.from({ length: Number(values.together) }, async () => {
    for (let outage = left.shift(); outage; outage = left.shift()) {
      const row = await runOutage(outage).catch((error: unknown) => {
        console.error(outage?.name, error);
      });
      isGood &&= row !== undefined && row.alerts.length > 0 && row.doctor.length > 0;
      if (!row) continue;
      console.log(formatRow(row));
      writing = writing.then(() => renewRow(row.outage, formatRow(row)));
      await writing;
    }
  }),
);
process.exit(isGood ? 0 : 1);

/** Replaces the row of an outage in the page, or adds the row. */
async function renewRow(outage: string, row: string): Promise<void> {
  const [text = '', table = ''] = (await readFile(page, 'utf8')).split(`${head}\n`);
  const rows = new Map(table.split('\n').map((each) => [each.split(' | ')[0], each]));
  rows.set(`| ${outage}`, row);
  const sorted = outages.flatMap(({ name }) => rows.get(`| ${name}`) ?? []);
  await writeFile(page, [text + head, ...sorted, ''].join('\n'));
}
