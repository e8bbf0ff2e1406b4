import { beforeAll, describe, expect, it } from 'vitest';
import { type Row, startServer } from './fixtures/running-server.ts';
import { surfacesOnDatabases } from './fixtures/surfaces.ts';

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

describe.each(surfacesOnDatabases)(
  'after creates over $surface.name on $database, the table',
  ({ database, surface }) => {
    const bodies: unknown[] = [];
    let rows: Row[];

    beforeAll(async () => {
      const server = await startServer(database);
      const send = async (json: string) => bodies.push((await surface.send(server, json)).body);
      for (const [spelling, id] of spellings) await send(`{"id":${spelling},"name":"${id}"}`);
      for (const [i, text] of texts.entries()) {
        await send(JSON.stringify({ id: 1_000 + i, name: text, tag: text }));
      }
      rows = await server.stopAndRead();
    });

    const isText = ({ id }: Row) => id >= 1_000n && id < 2_000n;

    it('contains every id exactly, whichever spelling of the number the client used', () => {
      const names = spellings.map(([, id]) => ({ name: String(id) }));
      expect(bodies.slice(0, spellings.length)).toEqual(names);
      const ids = [...new Set(spellings.map(([, id]) => id))];
      const expected = ids.map((id) => ({ id, name: String(id), tag: null }));
      expect(rows.filter((row) => !isText(row))).toEqual(
        expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      );
    });

    it('contains every text byte for byte', () => {
      const plants = texts.map((text) => ({ name: text, tag: text }));
      expect(bodies.slice(spellings.length)).toStrictEqual(plants);
      expect(rows.filter(isText)).toEqual(
        plants.map((plant, i) => ({ id: BigInt(1_000 + i), ...plant })),
      );
    });
  },
);
