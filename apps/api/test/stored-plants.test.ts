import { describe, expect, it } from 'vitest';
import { startServer } from './fixtures/running-server.ts';
import { surfacesOnDatabases } from './fixtures/surfaces.ts';

describe.each(surfacesOnDatabases)(
  'the table, after creates over $surface.name on $database',
  ({ database, surface }) => {
    it('has every id exactly, however it was written', async () => {
      const server = await startServer(database);
      const spellings: [string, bigint][] = [
        ['0', 0n],
        ['-0', 0n],
        ['1e2', 100n],
        ['1200E-1', 120n],
        ['-7.000', -7n],
        ['9007199254740991', 9007199254740991n],
        ['9007199254740992', 9007199254740992n],
        ['9007199254740993', 9007199254740993n],
        ['9007199254740995.00', 9007199254740995n],
        ['-9007199254740993e0', -9007199254740993n],
        ['9223372036854775807', 2n ** 63n - 1n],
        ['-9.223372036854775808E+18', -(2n ** 63n)],
      ];
      for (const [spelling, id] of spellings) {
        const { body } = await surface.send(server, `{"id":${spelling},"name":"${id}"}`);
        expect(body).toEqual({ name: String(id) });
      }
      const ids = new Set(spellings.map(([, id]) => id));
      const rows = [...ids].map((id) => ({ id, name: String(id), tag: null }));
      expect(await server.stopAndRead()).toEqual(rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    });

    it('has every text byte for byte', async () => {
      const server = await startServer(database);
      const texts = [
        '',
        ' ',
        '\u0001\u001f\u007f',
        '"\\/\b\f\n\r\t',
        '\u2028\ufeff',
        'é e\u0301',
        '🪴',
        "'; --",
      ];
      for (const [id, text] of texts.entries()) {
        const plant = { name: text, tag: text };
        const { body } = await surface.send(server, JSON.stringify({ id, ...plant }));
        expect(body).toStrictEqual(plant);
      }
      const rows = texts.map((text, id) => ({ id: BigInt(id), name: text, tag: text }));
      expect(await server.stopAndRead()).toEqual(rows);
    });
  },
);
