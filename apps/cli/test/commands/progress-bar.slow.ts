import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { plantLines, useDirectory } from '../fixtures/plant-files.ts';
import { hasTerminals, run, runOnTerminal } from '../fixtures/run-program.ts';

const directory = useDirectory();
const { env } = useDatabase({ isMigrated: true });

describe.runIf(hasTerminals).each([40, 80])(
  'on a terminal of %i columns (needs util-linux)',
  (columns) => {
    it('an import and an export show a progress bar that fits into one line', async () => {
      const file = await directory.write('plants.ndjson', [...plantLines(3_000)].join(''));
      const imported = await runOnTerminal(['import', file], { env, columns });
      expect(barsOf(imported.stdout).at(-1)).toMatch(/100%.* 3000 /);
      const exported = directory.path('exported.ndjson');
      const { code, stdout } = await runOnTerminal(['export'], { env, columns, output: exported });
      expect(code).toBe(0);
      expect(barsOf(stdout).at(-1)).toMatch(/3000 /);
      for (const bar of [...barsOf(imported.stdout), ...barsOf(stdout)]) {
        expect(bar.length).toBeLessThanOrEqual(columns);
      }
      expect((await readFile(exported, 'utf8')).split('\n').length).toBe(3_001);
    });
  },
);

it('an export shows no progress without a terminal', async () => {
  expect(await run(['export'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
});

/** Returns each state of the progress bar, without the lines of the summary. */
function barsOf(output: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters move the cursor.
  const moves = /\x1b\[[\d;?]*[A-Za-z]|[\r\n]/;
  return output.split(moves).filter((line) => line.includes('/s') && !line.includes('created'));
}
