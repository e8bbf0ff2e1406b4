import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { exitCodeBySignal } from '../../src/command-line/bulk-command.ts';
import { exitCodes } from '../../src/command-line/errors.ts';

const path = new URL('../../../../docs/exit-codes.md', import.meta.url);

it('docs/exit-codes.md lists exactly the exit codes of the program', async () => {
  const rows = (await readFile(path, 'utf8')).matchAll(/^\| (\d[\d, ]*) \| .+ \| (.+) \|$/gm);
  const documented = [...rows].flatMap(([, codes = '', command]) =>
    command === '–' ? [] : codes.split(', ').map(Number),
  );
  const codes = [0, ...Object.values(exitCodes), ...Object.values(exitCodeBySignal)];
  expect(documented).toEqual(codes);
});
