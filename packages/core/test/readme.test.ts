import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createDatabase } from '@plant-store/test-setup';
import { expect, inject, it, onTestFinished } from 'vitest';

const readme = new URL('../README.md', import.meta.url);

it('runs the example of the README', async () => {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const text = await readFile(readme, 'utf8');
  const [, example = ''] = /^```ts\n(.*?)^```/ms.exec(text) ?? [];
  const results = 'console.log({ outcomes, plant, plants, next, count, wasThere, loaded });\n';
  const file = fileURLToPath(new URL('readme-example.ts', import.meta.url));
  onTestFinished(() => rm(file));
  await writeFile(file, example.replace(/postgres:[^']+/, databaseUrl) + results);
  const { stdout } = await promisify(execFile)(process.execPath, [file]);
  expect(stdout.replaceAll(/createdAt: .*/g, 'createdAt')).toMatchInlineSnapshot(`
    "1,Monstera deliciosa
    2,Ficus lyrata
    3,Calathea orbifolia
    {
      outcomes: [ { id: 2n, result: 'created' } ],
      plant: {
        id: 1n,
        name: 'Monstera deliciosa',
        tag: 'Araceae',
        createdAt
      },
      plants: [
        {
          id: 1n,
          name: 'Monstera deliciosa',
          tag: 'Araceae',
          createdAt
        }
      ],
      next: undefined,
      count: 1,
      wasThere: true,
      loaded: [ 'created' ]
    }
    "
  `);
});
