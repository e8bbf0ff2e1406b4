import { describe, expect, it } from 'vitest';
import { type Outcome, surfaceCallers } from '../fixtures/callers.ts';
import { shareServer } from '../fixtures/server.ts';

const server = shareServer();
let lastId = 0n;

/** Each condition, made from the current ETag, and whether it is true (RFC 9110 §13.1.1). */
const conditions: [what: string, write: (etag: string) => string, isTrue: boolean][] = [
  ['the ETag', (etag) => `"${etag}"`, true],
  ['the ETag without quotes', (etag) => etag, true],
  ['a list with the ETag', (etag) => `"1", W/"2","${etag}"`, true],
  ['a list with empty elements', (etag) => `,, "${etag}" ,`, true],
  ['any plant', () => '*', true],
  ['a weak ETag', (etag) => `W/"${etag}"`, false],
  ['another ETag', (etag) => `"${etag}0"`, false],
  ['a list of other ETags', () => '"1","2"', false],
  ['an empty text', () => '', false],
  ['an empty ETag', () => '""', false],
  ['a list with *', () => '"1", *', false],
  ['a zero before the ETag', (etag) => `"0${etag}"`, false],
  ['a number beyond 64 bits', () => '"99999999999999999999"', false],
  ['a quote without its end', (etag) => `"${etag}`, false],
  ['a text before the quote', (etag) => `x"${etag}"`, false],
  ['other quotes', (etag) => `'${etag}'`, false],
  ['an ETag that contains commas', (etag) => `"x,${etag},y"`, false],
  ['an ETag that contains SQL', (etag) => `"${etag}}'; --"`, false],
];

describe.each(surfaceCallers)('ifMatch over $name', ({ call }) => {
  const create = async () => {
    const id = ++lastId;
    await call(server, 'createPlant', { id, name: 'Hoya' });
    return id;
  };
  const get = (id: bigint) => call(server, 'getPlant', { id });
  /** Returns the ETag without quotes. */
  const etagOf = ({ headers, output }: Outcome): string =>
    (headers.get('etag') ?? Object(output).etag).replaceAll('"', '');

  describe.each(['deletePlant', 'replacePlant'] as const)('%s', (procedure) => {
    const change = (id: bigint, ifMatch: string) =>
      call(server, procedure, {
        ...{ id, ifMatch },
        ...(procedure === 'replacePlant' && { name: 'Pilea' }),
      });

    it.each(conditions)('with %s', async (_what, write, isTrue) => {
      const id = await create();
      const before = await get(id);
      const outcome = await change(id, write(etagOf(before)));
      const after = await get(id);
      if (isTrue) {
        expect(outcome).not.toHaveProperty('error');
        expect(after.output).not.toEqual(before.output);
      } else {
        expect(outcome).toMatchObject({ status: 412, error: 41200 });
        expect(outcome.message).toContain(String(id));
        expect(after.output).toEqual(before.output);
      }
    });

    it('changes no other plant that has the id now, and none when no plant has it', async () => {
      const id = await create();
      const stale = etagOf(await get(id));
      await call(server, 'deletePlant', { id });
      for (const ifMatch of ['*', `"${stale}"`])
        expect(await change(id, ifMatch)).toMatchObject({ status: 412, error: 41200 });
      await call(server, 'createPlant', { id, name: 'Hoya' });
      expect(await change(id, `"${stale}"`)).toMatchObject({ status: 412, error: 41200 });
      expect((await get(id)).output).toMatchObject({ name: 'Hoya' });
    });

    it('lets exactly one of ten changes with the same ETag succeed', async () => {
      const id = await create();
      const etag = etagOf(await get(id));
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => change(id, etag)));
      expect(outcomes.filter(({ error }) => error === 41200)).toHaveLength(9);
    });

    it('rejects more than 1000 characters', async () => {
      const outcome = await change(await create(), '"1", '.repeat(201));
      expect(outcome).toMatchObject({ status: 400, error: 40001 });
      expect(outcome.message).toContain('ifMatch');
    });
  });
});

describe('a condition over REST', () => {
  const send = (method: string, path: string, body?: string) =>
    fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body }),
    });

  it.each(['GET', 'PUT', 'DELETE'])('cannot be in the query of %s', async (method) => {
    await send('POST', '/plants', '{"id":-1,"name":"Hoya"}');
    const body = method === 'PUT' ? '{"name":"Pilea"}' : undefined;
    const response = await send(method, '/plants/-1?ifMatch=1', body);
    const { error, message } = Object(await response.json());
    expect([response.status, error, message]).toEqual([
      400,
      40001,
      expect.stringMatching('"ifMatch"'),
    ]);
  });

  it.each([
    ['PUT', '{"name":"Pilea","ifMatch":"1"}'],
    ['DELETE', '{"ifMatch":"1"}'],
  ])('is ignored in the body of %s', async (method, body) => {
    await send('POST', '/plants', '{"id":-2,"name":"Hoya"}');
    expect((await send(method, '/plants/-2', body)).ok).toBe(true);
  });
});
