import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { LoadOutcome } from '@plant-store/core';
import { FileError, formatNames } from '@plant-store/formats';
import { importFile } from '@plant-store/formats/node';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { useDirectory } from '../fixtures/plant-files.ts';
import { run, start } from '../fixtures/run-program.ts';

const directory = useDirectory();

const database = useDatabase();
const { env } = database;

/** Pieces of text, from which the test builds arbitrary files. */
const piece = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...',;\t|"\r\n', '""', '\r\n', '\n', '\n1,a,\n2,"b') },
  { weight: 4, arbitrary: fc.constantFrom('1,a,b\n', '2;"a\nb";\r\n', '{"id":3,"name":"c"}\n') },
  { weight: 2, arbitrary: fc.constantFrom('id,name,tag\n', 'sep=;\n', '\ufeff', '🪴', 'é', '\0') },
  fc.string({ unit: 'binary', maxLength: 5 }),
);
const text = fc
  .tuple(fc.constantFrom('', 'id,name,tag\n', '\r\nID; Name\r\n', 'id\tname\r'), fc.array(piece))
  .map(([header, pieces]) => header + pieces.join(''));
const anyBytes = fc.oneof(
  { weight: 6, arbitrary: text.map((each) => Buffer.from(each)) },
  text.map((each) => Buffer.from(`\ufeff${each}`, 'utf16le')),
  text.map((each) => Buffer.from(each, 'latin1')),
  fc
    .tuple(text, fc.uint8Array({ maxLength: 9 }))
    .map((parts) => Buffer.concat(parts.map((part) => Buffer.from(part)))),
  text.map((each) => gzipSync(each)),
  text.map((each) => zstdCompressSync(each)),
  fc.uint8Array().map((each) => Buffer.from(each)),
);

describe.each(formatNames)('an import of arbitrary bytes as %s', (format) => {
  it('the summary counts every line exactly once', async () => {
    await fc.assert(
      fc.asyncProperty(anyBytes, fc.integer({ min: 1, max: 50 }), async (bytes, size) => {
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
          bytes.subarray(i * size, (i + 1) * size),
        );
        const counts = await countsOf(Readable.from(pieces), format);
        if (!counts) return; // The import has rejected the whole file.
        const { lines, header, blank, continued, rows, created, rejected } = counts;
        expect(header + blank + continued + rows).toBe(lines);
        expect(created + rejected).toBe(rows);
        const isPlain =
          bytes[0] !== 0x1f && bytes[0] !== 0x28 && bytes[0] !== 0xff && bytes[0] !== 0xfe;
        if (isPlain) expect([linesOf(bytes, '\n'), linesOf(bytes, '\r')]).toContain(lines);
      }),
      { numRuns: 1_000 },
    );
  });

  it('the database has the counted plants, and a second import changes nothing', async () => {
    const files = fc.sample(anyBytes, { numRuns: 12, seed: 14 });
    // The import does not reject a file that begins with these lines.
    const start = format === 'csv' ? 'id,name,tag\n7,"Hoya",\n' : '{"id":7,"name":"Hoya"}\n';
    const file = await directory.write('any', Buffer.concat([Buffer.from(start), ...files]));
    const args = ['import', file, '--format', format, '--json'];
    const first = JSON.parse((await run(args, { env })).stdout);
    const stored = await storedPlants();
    expect(stored.length).toBe(first.created);

    const second = JSON.parse((await run(args, { env })).stdout);
    const { created, exists, seconds: _, ...rest } = first;
    expect(second).toMatchObject({
      ...rest,
      created: 0,
      exists: exists + created,
      seconds: expect.anything(),
    });
    expect(await storedPlants()).toEqual(stored);
  });
});

it('needs little memory when a big file has an unclosed quote', async () => {
  const block = `2,${'x'.repeat(98)}\n`.repeat(10_000); // A block of rows with about 1 MB.
  const importing = start(
    ['import', '-', '--format', 'csv', '--dry-run', '--json', '--rejects', '-'],
    {
      env,
      node: ['--max-old-space-size=200'],
    },
  );
  importing.child.stdin.write('id,name\n1,"never closed\n');
  for (let i = 0; i < 150; i++) importing.child.stdin.write(block);
  importing.child.stdin.end();
  const { stderr } = await importing.result;
  expect(stderr).not.toContain('Warning');
  expect(stderr).toContain(
    '"lines":1500002,"header":1,"blank":0,"continued":0,"rows":1500001,"valid":1500000,',
  );
});

async function countsOf(input: Readable, format: (typeof formatNames)[number]) {
  const store = {
    load: async (plants: readonly unknown[]): Promise<LoadOutcome[]> => plants.map(() => 'created'),
  };
  try {
    return await importFile(store, input, { format, warn() {} });
  } catch (error) {
    if (error instanceof FileError) return undefined;
    throw error;
  }
}

/** Counts the lines of a file, whose last line may lack a line end. */
function linesOf(bytes: Buffer, lineEnd: string): number {
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  if (text === '') return 0;
  return text.split(lineEnd).length - (text.endsWith(lineEnd) ? 1 : 0);
}

const storedPlants = async () => [...(await database.sql`select * from plants order by id`)];
