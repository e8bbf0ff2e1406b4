import { execFileSync } from 'node:child_process';
import { PlantPage, StoredPlant } from '@plant-store/schemas';
import { hasPosixShell } from '@plant-store/test-setup';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { listWriter } from '../../../src/responses/list-writer.ts';

const plant = {
  id: 9223372036854775807n,
  name: 'Monstera "deliciosa" 🌿',
  tag: 'Ara\nceae',
  createdAt: new Date('2026-01-02T03:04:05.678Z'),
};
const { tag: _, ...withoutTag } = plant;

test('writes a list of plants exactly, in the order of the schema', async () => {
  const write = listWriter(PlantPage, 'integer');
  expect(await write?.({ plants: [plant, withoutTag], next: -9223372036854775808n })).toBe(
    '{"plants":[' +
      '{"id":9223372036854775807,"name":"Monstera \\"deliciosa\\" 🌿","tag":"Ara\\nceae","createdAt":"2026-01-02T03:04:05.678Z"},' +
      '{"id":9223372036854775807,"name":"Monstera \\"deliciosa\\" 🌿","createdAt":"2026-01-02T03:04:05.678Z"}' +
      '],"next":-9223372036854775808}',
  );
  expect(await write?.({ plants: [] })).toBe('{"plants":[]}');
});

test('writes ids as strings', async () => {
  const write = listWriter(PlantPage, 'string');
  expect(await write?.({ plants: [], next: -9223372036854775808n })).toBe(
    '{"plants":[],"next":"-9223372036854775808"}',
  );
});

test('writes only lists whose parts have types in JSON Schema', () => {
  expect(listWriter(StoredPlant, 'integer')).toBeUndefined();
  expect(listWriter(z.array(z.any()), 'integer')).toBeUndefined();
});

// Windows has no such limit.
test.runIf(hasPosixShell)('writes lists again after it could not load the generator', () => {
  const program = `
    import { closeSync, openSync } from 'node:fs';
    import { PlantPage } from '@plant-store/schemas';
    import { listWriter } from './src/responses/list-writer.ts';
    const write = listWriter(PlantPage, 'integer');
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
