import { gzipSync } from 'node:zlib';
import { NewPlant } from '@plant-store/schemas';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plantWriter } from '../src/index.ts';
import { read } from './read.ts';

const special = ['"', '""', ',', ';', '\n', '\r', '\r\n', "'", '=', '@', '\ufeff', '\ufffd', ' '];
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
  fc.array(fc.constantFrom(...special)).map((parts) => parts.join('')),
);
const anyTime = fc.date({ noInvalidDate: true });
const anyPlant = fc.record(
  {
    id: fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    name: anyText,
    tag: anyText,
    createdAt: anyTime,
    updatedAt: anyTime,
  },
  { requiredKeys: ['id', 'name'] },
);

describe.each(['csv', 'ndjson'] as const)('a %s file of plantWriter', (format) => {
  it('is read exactly, in chunks of any size, plain and compressed', async () => {
    const any = fc.tuple(fc.array(anyPlant), fc.integer({ min: 1, max: 100 }), fc.boolean());
    await fc.assert(
      fc.asyncProperty(any, async ([plants, chunkSize, isCompressed]) => {
        const { start, rows } = plantWriter(format);
        const bytes = Buffer.from(start + rows(plants));
        const result = await read(isCompressed ? gzipSync(bytes) : bytes, chunkSize);
        expect(result.error).toBeUndefined();
        expect(result.plants).toEqual(plants.map((plant) => NewPlant.parse(plant)));
      }),
    );
  });
});

it('writes CSV for spreadsheet programs, with plain ids and times, and NDJSON as the API does', () => {
  const time = new Date('2026-11-01T09:30:00.000Z');
  const plants = [
    { id: 2n ** 63n - 1n, name: 'Hoya, "Rosea"', tag: '', createdAt: time, updatedAt: time },
    { id: -1n, name: '=SUM(A1)' },
  ];
  const csv = plantWriter('csv');
  expect(csv.start).toBe('\ufeffid,name,tag,created_at,updated_at\n');
  expect(csv.rows(plants)).toBe(
    `9223372036854775807,"Hoya, ""Rosea""","",${time.toISOString()},${time.toISOString()}\n` +
      "-1,'=SUM(A1),,,\n",
  );
  expect(plantWriter('ndjson').rows([{ id: 2n ** 63n - 1n, name: 'x', createdAt: time }])).toBe(
    '{"id":9223372036854775807,"name":"x","createdAt":"2026-11-01T09:30:00.000Z"}\n',
  );
});

it('loses no line of any file', async () => {
  const pieces = ['"', '""', ',', ',,', '\n', '\r\n', '\r', '1', '2,Hoya', 'x', ' ', '\n3,Ficus\n'];
  const anyBody = fc.array(fc.constantFrom(...pieces)).map((parts) => parts.join(''));
  const any = fc.tuple(anyBody, fc.integer({ min: 1, max: 20 }));
  await fc.assert(
    fc.asyncProperty(any, async ([body, chunkSize]) => {
      const content = `id,name\n${body}`;
      const { rows, facts, error } = await read(content, chunkSize);
      const lines = content.split('\n');
      if (lines.at(-1) === '') lines.pop();
      const { header, blank, continued } = facts;
      expect(facts.rows + header + blank + continued).toBe(facts.lines);
      const end = error ? Number(/\d+/.exec(error.message)) : facts.lines + 1;
      if (!error) expect(facts.lines).toBe(lines.length);
      let next = 2;
      for (const { line, lastLine, text } of [...rows, { line: end, lastLine: end, text: '' }]) {
        for (; next < line; next++) expect(lines[next - 1]).toMatch(/^[,\s]*$/);
        if (line === end) break;
        expect(
          lines
            .slice(line - 1, lastLine)
            .join('\n')
            .replace(/\r$/, ''),
        ).toBe(text);
        next = lastLine + 1;
      }
    }),
    { numRuns: 300 },
  );
});
