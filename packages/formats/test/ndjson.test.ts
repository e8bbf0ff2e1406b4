import { expect, it } from 'vitest';
import { read } from './read.ts';

it('reads a plant from each line of NDJSON, with exact ids', async () => {
  const file = ' {"id":9223372036854775807,"name":"Hoya","tag":"wax"}\r\n\r\n{"name":"x","id":-1}';
  const { rows, facts } = await read(file);
  expect(rows).toMatchObject([
    { line: 1, lastLine: 1, plant: { id: 2n ** 63n - 1n, name: 'Hoya', tag: 'wax' } },
    { line: 3, lastLine: 3, plant: { id: -1n, name: 'x' }, text: '{"name":"x","id":-1}' },
  ]);
  expect(facts).toMatchObject({ format: 'ndjson', lines: 3, rows: 2, header: 0, blank: 1 });
  expect(facts.rejectsStart).toBe('');
});

it('leaves out unknown properties of NDJSON, with at most ten notes', async () => {
  const lines = Array.from({ length: 20 }, (_, i) => `{"id":${i},"name":"x","price${i}":1}\n`);
  const { plants, facts } = await read(lines.join(''));
  expect(plants[19]).toEqual({ id: 19n, name: 'x' });
  expect(facts.notes.size).toBe(10);
  expect(facts.notes).toContain('"price0" is left out: a file sets id, name and tag.');
});

it.each([
  ['{"id":1,"name":"x"', /^is not JSON: /],
  ['nope', /^is not JSON: /],
  ['[{"id":1,"name":"x"}]', /^must be an object$/],
  ['"text"', /^must be an object$/],
  ['{"name":"x"}', /^id is missing: it must be an integer$/],
  [`{"id":1e3,"name":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, /^has too many levels$/],
  ['{"id":1.5,"name":"x"}', /^id must be an integer from /],
  ['{"id":9223372036854775808,"name":"x"}', /^id must be an integer from /],
  ['{"id":"5","name":"x"}', /send it without quotes: "5"$/],
  ['{"id":1,"name":"\\ud83c"}', /^name must not contain U\+0000 or a lone surrogate$/],
  ['{"id":1,"name":"x","tag":null}', /^tag must be a string$/],
  [`{"id":1,"name":"${'x'.repeat(2_000_000)}"}`, /^is longer than 1 MiB/],
])('rejects only a wrong line of NDJSON (%#)', async (text, error) => {
  const { rows, plants } = await read(`{"id":1,"name":"before"}\n${text}\n{"id":3,"name":"after"}`);
  expect(rows[1]).toMatchObject({ line: 2, text, error: expect.stringMatching(error) });
  expect(plants.map(({ name }) => name)).toEqual(['before', 'after']);
});

it('rejects each line of a JSON document that has several lines', async () => {
  const { errors } = await read('[\n  {"id":1,"name":"x"},\n]');
  const starts = errors.map((error) => error.slice(0, 14));
  expect(starts).toEqual(['1: is not JSON', '2: is not JSON', '3: is not JSON']);
});
