import { existsSync } from 'node:fs';
import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const repository = fileURLToPath(new URL('..', import.meta.url));
const patterns = ['*.md', 'docs/**/*.md', '{packages,apps,examples}/*/README.md'];
const pages = await Array.fromAsync(glob(patterns, { cwd: repository }));

/** Returns the paths in the links of a page. A link that begins with `./` is an address of a running store. */
async function linkedFrom(page: string) {
  const text = await readFile(join(repository, page), 'utf8');
  const links = [...text.matchAll(/\]\((?!\w+:|\.\/)([^)#\s]+)/g)];
  return links.map(([, path = '']) => join(page, '..', path));
}

it.each([...pages, 'llms.txt'])('each link of %s names an existing file', async (page) => {
  const linked = await linkedFrom(page);
  expect(linked.filter((path) => !existsSync(join(repository, path)))).toEqual([]);
});

it.each(['docs/README.md', 'llms.txt'])('%s lists every page', async (list) => {
  const others = [list, 'README.md', join('docs', 'README.md')];
  const expected = pages.filter((page) => !others.includes(page));
  expect(await linkedFrom(list)).toEqual(expect.arrayContaining(expected));
});
