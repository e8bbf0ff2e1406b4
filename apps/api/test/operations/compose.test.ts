import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readEnv } from '../../src/env.ts';

const compose = new URL('../../../../deploy/compose.yaml', import.meta.url);

it('the compose file sets only variables that the server reads', async () => {
  const text = await readFile(compose, 'utf8');
  const names = [...text.matchAll(/^ +(PLANT_STORE_\w+|DATABASE_URL):/gm)].map(([, name]) => name);
  expect(names).toEqual(['DATABASE_URL', 'PLANT_STORE_TOKEN', 'PLANT_STORE_PROCESSES']);
  expect(Object.keys(readEnv({}))).toEqual(expect.arrayContaining(names));
});
