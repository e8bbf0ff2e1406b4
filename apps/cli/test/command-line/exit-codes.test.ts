import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { exitCodeBySignal } from '../../src/command-line/bulk-command.ts';
import { exitCodes } from '../../src/command-line/errors.ts';

const repository = new URL('../../../../', import.meta.url);
const page = await readFile(new URL('docs/exit-codes.md', repository), 'utf8');

/** The codes of the rows in which a column has text. */
function documented(column: 'server' | 'command'): number[] {
  const rows = page.matchAll(/^\| (\d[\d, ]*) \| (.+) \| (.+) \|$/gm);
  return [...rows].flatMap(([, codes = '', server, command]) =>
    (column === 'server' ? server : command) === '–' ? [] : codes.split(', ').map(Number),
  );
}

it('of the command are all on the page', () => {
  const codes = [0, ...Object.values(exitCodes), ...Object.values(exitCodeBySignal)];
  expect(documented('command')).toEqual(codes);
});

it('of the server are all on the page', async () => {
  const source = fileURLToPath(new URL('apps/api/src/', repository));
  const files = (await readdir(source, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(files.map((name) => readFile(source + name, 'utf8')));
  const codes = texts.flatMap((text) =>
    [...text.matchAll(/(?:exitCode =|exit\(|onEnd\(code \|\|) ?(\d+)/g)].map(([, code]) =>
      Number(code),
    ),
  );
  expect(new Set([0, ...codes])).toEqual(new Set(documented('server')));
});
