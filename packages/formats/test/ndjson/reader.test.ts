import { expect, it } from 'vitest';
import { readRows } from '../fixtures/read-rows.ts';

it('reads a plant from each line, and skips blank lines', async () => {
  const { rows, counts } = await readRows(
    '\n{"id":1}\n \t\n {"id":9007199254740993} \r\nnull',
    'ndjson',
  );
  expect(rows).toEqual([
    { line: 2, plant: { id: 1 } },
    { line: 4, plant: { id: 9007199254740993n } },
    { line: 5, plant: null },
  ]);
  expect(counts).toEqual({ lines: 5, header: 0, blank: 2, continued: 0 });
});

it('rejects a line that is not JSON, and reads the other lines', async () => {
  const bytes = Buffer.concat([
    Buffer.from('{"id":1,\n{"id":2}\n'),
    Buffer.from('"größe"\n', 'latin1'),
    Buffer.from('{"id":3}\n'),
  ]);
  expect((await readRows(bytes, 'ndjson')).rows).toEqual([
    { line: 1, error: expect.stringMatching(/^is not JSON: \S/) },
    { line: 2, plant: { id: 2 } },
    { line: 3, error: expect.stringContaining('is not UTF-8') },
    { line: 4, plant: { id: 3 } },
  ]);
});

it.each([
  'x{"id":1,"name":"x"}',
  '{"id":1,"name":"x"}x',
  '{"id":1,"name":"x","tag":"\\"}',
  '{"id":1,"name":"x","tag":"\t"}',
])('rejects %j, which is almost the text of a plant', async (line) => {
  expect((await readRows(`${line}\n{"id":2}\n`, 'ndjson')).rows).toEqual([
    { line: 1, error: expect.stringMatching(/^is not JSON/) },
    { line: 2, plant: { id: 2 } },
  ]);
});

it.each([
  [
    '[{"id":1}]',
    'the file is one JSON document: convert it with jq -c ".[]" or jq -c ".", of jq 1.7 or newer, which keeps long ids exact',
  ],
  [' [ {"id":1}]', 'the file is one JSON document'],
  ['[\n{"id":1}\n]', 'the file is one JSON document'],
  [' {\r\n"id":1}', 'the file is one JSON document'],
  ['\n\nid,name\n1,x\n', 'the file is CSV: read it as CSV'],
  ['name;tag;ID\n', 'the file is CSV: read it as CSV'],
])('rejects a file that starts with %j', async (content, message) => {
  const error = { name: 'FileError', message: expect.stringContaining(message) };
  await expect(readRows(content, 'ndjson')).rejects.toMatchObject(error);
});

it.each([
  '["id,name"]',
  '[1]\n',
  'x [\n',
  'x [{\n',
  '{"id,name": 1, "id": "id,name"}\n',
  '{"a":\nid,name\n',
  'id,tag\n',
])('reads a file that starts with %j as NDJSON', async (content) => {
  expect((await readRows(content, 'ndjson')).rows[0]).toMatchObject({ line: 1 });
});

it('reads a file as NDJSON even if the first line is not UTF-8', async () => {
  const latin1 = Buffer.from('ö\nid,name\n', 'latin1');
  expect((await readRows(latin1, 'ndjson')).rows).toHaveLength(2);
});

it('adds the line number and the reason to each rejected object, and reads the rejects file again', async () => {
  const content = ' { "id":1, "name":"x" } \r\n{"id":2}\n{}\nnull\n{"a":"line\n[{"a":1}]\n';
  const { rejects } = await readRows(content, 'ndjson');
  expect(rejects.split('\n')).toEqual([
    '{"line":1,"reason":"it is \\"wrong\\"","id":1, "name":"x" }',
    '{"line":2,"reason":"it is \\"wrong\\"","id":2}',
    '{"line":3,"reason":"it is \\"wrong\\"","row":"{}"}',
    '{"line":4,"reason":"it is \\"wrong\\"","row":"null"}',
    '{"line":5,"reason":"it is \\"wrong\\"","row":"{\\"a\\":\\"line"}',
    '{"line":6,"reason":"it is \\"wrong\\"","row":"[{\\"a\\":1}]"}',
    '',
  ]);
  const again = await readRows(rejects, 'ndjson');
  expect(again.rejects.split('\n').slice(0, 2)).toEqual(rejects.split('\n').slice(0, 2));
  expect(again.rows[0]).toMatchObject({ plant: { id: 1, name: 'x' } });
});

it('replaces the line number and the reason only at the start of an object', async () => {
  const content = [
    '{"line":17,"reason":"a \\\\ \\"b\\"","id":1}',
    '{"line":x,"reason":"a","id":1}',
    '{"line":1,"reason":"a"}',
    '{"id":1,"x":{"line":1,"reason":"a","id":2}}',
  ];
  const start = '{"line":1,"reason":"it is \\"wrong\\"",';
  const { rejects } = await readRows(`${content[0]}\n`, 'ndjson');
  expect(rejects).toBe(`${start}"id":1}\n`);
  const others = await readRows(`${content.slice(2).join('\n')}\n`, 'ndjson');
  expect(others.rejects).toBe(
    `${start}"line":1,"reason":"a"}\n${start.replace('1', '2')}"id":1,"x":{"line":1,"reason":"a","id":2}}\n`,
  );
});
