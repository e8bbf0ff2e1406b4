import { Readable } from 'node:stream';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { openPlantFile } from '../../src/files/import-file.ts';

async function plantsOf(bytes: Buffer, chunkSize = bytes.length) {
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, i) =>
    bytes.subarray(i * chunkSize, (i + 1) * chunkSize),
  );
  const { blocks } = await openPlantFile(Readable.from(chunks), { format: 'csv' });
  return (await Array.fromAsync(blocks)).flatMap(({ rows }) =>
    rows.map((row) => 'plant' in row && row.plant),
  );
}

const text = 'id,name\n1,Grün 🪴\n2,ö\n';

it.each([
  ['gzip', gzipSync(text)],
  ['two members of gzip', Buffer.concat([gzipSync('id,name\n1,Grün '), gzipSync('🪴\n2,ö\n')])],
  ['zstd', zstdCompressSync(text)],
])('reads %s, in chunks of any size', async (_, bytes) => {
  for (const chunkSize of [1, 2, 3, 5, 7, bytes.length]) {
    expect(await plantsOf(bytes, chunkSize)).toEqual([
      { id: 1n, name: 'Grün 🪴' },
      { id: 2n, name: 'ö' },
    ]);
  }
});

it.each([
  ['gzip', gzipSync(text)],
  ['zstd', zstdCompressSync(text)],
])('rejects incomplete %s data', async (name, content) => {
  await expect(plantsOf(content.subarray(0, -3), 5)).rejects.toMatchObject({
    name: 'FileError',
    message: expect.stringMatching(
      `the ${name} data is damaged or incomplete .*: make or copy the file again`,
    ),
    cause: expect.any(Error),
  });
});

it.each([
  ['zstd', [zstdCompressSync('id,name\n'), zstdCompressSync('2,x\n')]],
  ['gzip', [gzipSync('id,name\n'), Buffer.alloc(512), gzipSync('2,x\n')]],
])('rejects %s data with a part that Node does not read', async (name, parts) => {
  await expect(plantsOf(Buffer.concat(parts))).rejects.toThrow(
    `the ${name} data has several parts: unpack the file by \`${name} -d\``,
  );
});
