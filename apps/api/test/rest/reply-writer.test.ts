import { execFileSync } from 'node:child_process';
import { PlantPage, StoredPlant } from '@plant-store/schemas';
import { hasPosixShell } from '@plant-store/test-setup';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { replyWriter } from '../../src/rest/reply-writer.ts';

const plant = {
  id: 9223372036854775807n,
  name: 'Monstera "deliciosa" 🌿',
  tag: 'Ara\nceae',
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
};
const json = {
  id: '9223372036854775807',
  name: '"Monstera \\"deliciosa\\" 🌿"',
  tag: '"Ara\\nceae"',
  createdAt: '"2026-01-02T03:04:05.678Z"',
};

function textOf(names: (keyof typeof json)[]): string {
  return `{${names.map((name) => `"${name}":${json[name]}`).join(',')}}`;
}

test('writes a plant exactly', async () => {
  const write = replyWriter(StoredPlant);
  expect(await write(plant)).toBe(textOf(['id', 'name', 'tag', 'createdAt']));
});

test('writes a list of plants exactly', async () => {
  const write = replyWriter(PlantPage);
  const { tag: _, ...withoutTag } = plant;
  expect(await write({ plants: [plant, withoutTag], next: -9223372036854775808n })).toBe(
    // The generated code writes optional properties last.
    `{"plants":[${textOf(['id', 'name', 'createdAt', 'tag'])},${textOf(['id', 'name', 'createdAt'])}],` +
      '"next":-9223372036854775808}',
  );
  expect(await write({ plants: [] })).toBe('{"plants":[]}');
});

test('writes a list without a type in JSON Schema exactly', async () => {
  const write = replyWriter(z.array(z.any()));
  expect(await write([plant.id, 'x'])).toBe('[9223372036854775807,"x"]');
});

// Windows has no such limit.
test.runIf(hasPosixShell)('writes lists again after it could not load the generator', () => {
  const program = `
    import { closeSync, openSync } from 'node:fs';
    import { PlantPage } from '@plant-store/schemas';
    import { replyWriter } from './src/rest/reply-writer.ts';
    const write = replyWriter(PlantPage);
    const open = [];
    try {
      for (;;) open.push(openSync('/dev/null'));
    } catch {
      const error = await write({ plants: [] }).catch(({ message }) => message);
      for (const descriptor of open) closeSync(descriptor);
      console.log(JSON.stringify([error, await write({ plants: [] })]));
    }`;
  const node = [process.execPath, '--input-type=module', '--eval', program];
  const output = execFileSync('sh', ['-c', 'ulimit -n 64 && exec "$@"', 'sh', ...node]);
  expect(JSON.parse(String(output))).toEqual([expect.any(String), '{"plants":[]}']);
});
