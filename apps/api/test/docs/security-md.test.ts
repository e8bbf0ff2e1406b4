import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const root = new URL('../../../../', import.meta.url);
const page = await readFile(new URL('SECURITY.md', root), 'utf8');
const rows = page.match(/^\|.*\|$/gm)?.slice(2) ?? [];

it.each(rows)('cites a test that exists: %s', async (row) => {
  const [, path = '', name = ''] = /\]\(([^)]+\.test\.ts)\): (.+?) \|$/.exec(row) ?? [];
  const source = await readFile(new URL(path, root), 'utf8');
  expect(source).toContain(`'${name}'`);
});

it('has promises', () => {
  expect(rows.length).toBeGreaterThan(20);
});
