import { access, glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const repository = fileURLToPath(new URL('..', import.meta.url));
const patterns = ['*.md', 'docs/*.md', '{packages,apps,examples}/*/README.md'];
const found = await Array.fromAsync(glob(patterns, { cwd: repository }));
const pages = found.filter((page) => !['README.md', join('docs', 'README.md')].includes(page));

/** Returns the paths in the links of a list of pages. */
async function linkedFrom(list: string) {
  const text = await readFile(join(repository, list), 'utf8');
  // A link that begins with `./` is an address of a running store.
  const links = [...text.matchAll(/\]\((?!\w+:|\.\/)([^)#]+)/g)];
  return links.map(([, path = '']) => join(list, '..', path));
}

it.each(['docs/README.md', 'llms.txt'])('%s lists every page', async (list) => {
  const linked = await linkedFrom(list);
  expect(linked).toEqual(expect.arrayContaining(pages));
  for (const path of linked) await access(join(repository, path));
});
