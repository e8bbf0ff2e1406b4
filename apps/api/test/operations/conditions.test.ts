import { describe, expect, it } from 'vitest';
import { documentOf } from '../fixtures/document.ts';
import { shareServer } from '../fixtures/server.ts';
import { get, type Outcome, post, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();
let lastId = 0n;

/** Conditions for a plant's ETag, and whether each condition is true (RFC 9110 §13.1.1). */
const conditions: [what: string, write: (etag: string) => string, isTrue: boolean][] = [
  ['the ETag', (etag) => `"${etag}"`, true],
  ['the ETag without quotes', (etag) => etag, true],
  ['a list with the ETag', (etag) => `"1", W/"2","${etag}"`, true],
  ['any plant', () => '*', true],
  ['a weak ETag', (etag) => `W/"${etag}"`, false],
  ['another ETag', (etag) => `"${etag}0"`, false],
  ['a list of other ETags', () => '"1","2"', false],
  ['an empty text', () => '', false],
  ['a list with *', () => '"1", *', false],
  ['a zero before the ETag', (etag) => `"0${etag}"`, false],
  ['a number beyond 64 bits', () => '"99999999999999999999"', false],
  ['a quote without its end', (etag) => `"${etag}`, false],
  ['an ETag that contains commas', (etag) => `"x,${etag},y"`, false],
  ['an ETag that contains SQL', (etag) => `"${etag}}'; --"`, false],
];

describe.each(surfaces)('ifMatch over $name', ({ call }) => {
  const create = async () => {
    const id = ++lastId;
    await call(server, 'createPlant', { id, name: 'Hoya' });
    return id;
  };
  const getPlant = (id: bigint) => call(server, 'getPlant', { id });
  /** Returns the ETag without quotes. */
  const etagOf = ({ headers, output }: Outcome): string =>
    (headers.get('etag') ?? Object(output).etag).replaceAll('"', '');

  describe.each(['deletePlant', 'replacePlant'] as const)('%s', (procedure) => {
    const name = procedure === 'replacePlant' && { name: 'Pilea' };
    const change = (id: bigint, ifMatch: string) =>
      call(server, procedure, { id, ifMatch, ...name });

    it.each(conditions)('changes only a plant that matches %s', async (_what, write, isTrue) => {
      const id = await create();
      const before = await getPlant(id);
      const outcome = await change(id, write(etagOf(before)));
      const after = await getPlant(id);
      if (isTrue) {
        expect(outcome).not.toHaveProperty('error');
        expect(after.output).not.toEqual(before.output);
      } else {
        expect(outcome).toMatchObject({ status: 412, error: 41200 });
        expect(outcome.message).toContain(String(id));
        expect(after.output).toEqual(before.output);
      }
    });

    it('changes nothing after a delete of the plant, even when another plant has its id', async () => {
      const id = await create();
      const stale = etagOf(await getPlant(id));
      await call(server, 'deletePlant', { id });
      for (const ifMatch of ['*', `"${stale}"`]) {
        expect(await change(id, ifMatch)).toMatchObject({ status: 412, error: 41200 });
      }
      await call(server, 'createPlant', { id, name: 'Hoya' });
      expect(await change(id, `"${stale}"`)).toMatchObject({ status: 412, error: 41200 });
      expect((await getPlant(id)).output).toMatchObject({ name: 'Hoya' });
    });

    it('lets exactly one of ten changes with the same ETag succeed', async () => {
      const id = await create();
      const etag = etagOf(await getPlant(id));
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => change(id, etag)));
      expect(outcomes.filter(({ error }) => error === 41200)).toHaveLength(9);
    });
  });
});

it('GET responds with 304 to If-None-Match when the plant still has the ETag', async () => {
  await post(server, '/plants', '{"id":-15,"name":"Hoya"}');
  const current = await get(server, '/plants/-15');
  const etag = current.headers.get('etag') ?? '';
  expect(etag).toMatch(/^"\d+"$/);
  expect(await current.text()).not.toContain('etag');
  const { expectDescribed } = await documentOf(server.url);
  for (const [known, status] of [
    [etag, 304],
    [`W/${etag}`, 304],
    [`"1", ${etag}`, 304],
    ['*', 304],
    ['"1"', 200],
    [`"1${etag.slice(1)}`, 200],
  ] as const) {
    const response = await get(server, '/plants/-15', { 'if-none-match': known });
    const { headers } = response;
    const body = await response.text();
    expect([known, response.status, headers.get('etag')]).toEqual([known, status, etag]);
    expectDescribed('GET /plants/{id}', { status: response.status, headers, body });
  }
  expect((await get(server, '/plants/-16', { 'if-none-match': '*' })).status).toBe(404);
});
