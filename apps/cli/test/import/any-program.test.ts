import { readFile } from 'node:fs/promises';
import { openPlantStore } from '@plant-store/core';
import { exportFile, importFile, type RejectedRow } from '@plant-store/formats/node';
import { expect, it } from 'vitest';
import { useDatabase } from '../fixtures/database.ts';
import { useDirectory } from '../fixtures/plant-files.ts';

const directory = useDirectory();

const { env } = useDatabase();

it('a program imports and exports files whose names select the formats', async () => {
  const store = await openPlantStore({ databaseUrl: env.DATABASE_URL });
  const compressed = await directory.write('plants.ndjson.gz', 'an older file');
  try {
    const csv = await directory.write('plants.csv', 'id,name\n1,Hoya\nx,Ficus\n2,Pilea\n');
    const rejected: RejectedRow[] = [];
    const onRejectedRows = (rows: RejectedRow[]) => void rejected.push(...rows);
    expect(await importFile(store, csv, { onRejectedRows })).toMatchObject({ created: 2 });
    expect(rejected).toMatchObject([
      { line: 3, reason: expect.stringMatching(/^invalid input: /) },
    ]);

    await exportFile(store, compressed);
    const stopped = exportFile(store, compressed, { signal: AbortSignal.abort() });
    await expect(stopped).rejects.toThrow('aborted');
    expect(await importFile(store, compressed)).toMatchObject({ rows: 2, exists: 2 });

    const columns = ['id', 'name'] as const;
    let exported = 0;
    const onProgress = (rows: number) => {
      exported = rows;
    };
    await exportFile(store, csv, { columns, onProgress });
    expect(await readFile(csv, 'utf8')).toBe('id,name\n1,Hoya\n2,Pilea\n');
    expect(exported).toBe(2);
    await expect(importFile(store, 'plants.txt')).rejects.toThrow(
      "the format of plants.txt is unknown: set the option `format` to 'ndjson'",
    );
  } finally {
    await store.close();
  }
});
