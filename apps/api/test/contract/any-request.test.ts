import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { documentOf } from '../fixtures/document.ts';
import { bearer, close, contentType, rawRequest, sendRaw } from '../fixtures/raw-request.ts';
import { type Row, shareServer, storedPlants, token } from '../fixtures/server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

const authorization = bearer(token);

const minId = -(2n ** 63n);
const maxId = 2n ** 63n - 1n;

// A few ids are frequent, so that several creates have the same id.
const id = fc.oneof(fc.bigInt(-3n, 3n), fc.bigInt(minId, maxId), fc.constantFrom(minId, maxId));

/** An integer, and one of its spellings in JSON. */
const idJson = fc
  .tuple(id, fc.nat(25), fc.constantFrom('', '.0', '.000'), fc.constantFrom('e', 'E', 'e+', 'E+0'))
  .chain(([integer, shift, fraction, e]) => {
    const [sign, digits] = integer < 0n ? ['-', String(-integer)] : ['', String(integer)];
    const padded = digits.padStart(shift + 1, '0');
    const shifted = `${padded.slice(0, -shift)}.${padded.slice(-shift)}${e}${shift}`;
    const spellings = [
      digits,
      digits + fraction,
      digits === '0' ? '-0e-2' : `${digits}00e-2`,
      shift > 0 ? shifted : digits,
    ];
    return fc.constantFrom(...spellings.map((spelling) => [integer, sign + spelling] as const));
  });

/** Text that Postgres can store. */
const text = fc
  .oneof(fc.constantFrom('', 'Monstera', 'x'), fc.string({ unit: 'binary' }))
  .map((text) => text.replaceAll('\0', ''));

const anyValue = fc.json({ maxDepth: 2 });

/** Properties that a plant does not have. */
const unknownProperties = fc.array(
  fc
    .tuple(fc.constantFrom('a', '__proto__', 'constructor', ''), anyValue)
    .map(([name, json]) => `"${name}": ${json}`),
  { maxLength: 2 },
);

/** A plant, and a JSON text that describes the plant. */
const anyPlant = fc
  .tuple(unknownProperties, idJson, fc.option(text), text)
  .map(([unknown, [id, idText], tag, name]) => {
    const tags = tag === null ? [] : [`"tag": ${JSON.stringify(tag)}`];
    const json = `{${[...unknown, `"id": ${idText}`, ...tags, `"name": ${JSON.stringify(name)}`]}}`;
    return { json, plant: { id, name, tag } };
  });

const invalidId = fc.oneof(
  anyValue.filter((json) => !/^-?\d/.test(json)),
  fc.bigInt(maxId + 1n, maxId ** 2n).map(String),
  fc.bigInt(-(maxId ** 2n), minId - 1n).map(String),
  id.map((integer) => `${integer}.${'0'.repeat(30)}1`),
  id.map((integer) => `${integer === 0n ? 1n : integer}.5e-400`),
  fc.constantFrom('1e19', '1e400', '9007199254740991.5'), // JavaScript would round the last number.
);

const invalidText = fc.oneof(
  anyValue.filter((json) => !json.startsWith('"')),
  fc.constantFrom('"\\u0000"', '"a\\ud800"', '"\\udfff\\ud800b"', '"\\uD83E"'),
);

const invalidPlantJson = fc.oneof(
  invalidId.map((id) => `{"id": ${id},"name": "x"}`),
  invalidText.map((name) => `{"id": 1,"name": ${name}}`),
  invalidText.map((tag) => `{"id": 1,"name": "x","tag": ${tag}}`),
  fc.constantFrom('{"id":1}', '{"name":"x"}', '{}', '[]', 'null', '1', '"x"'),
  fc.constant('[{"id":1,"name":"x"}]'),
);

const anyBody = fc.oneof(
  fc.json().map((json) => Buffer.from(json)),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  // In a valid plant, up to four bytes are replaced by up to four other bytes.
  fc
    .tuple(anyPlant, fc.nat(), fc.nat(4), fc.uint8Array({ maxLength: 4 }))
    .map(([{ json }, at, cut, bytes]) => {
      const whole = Buffer.from(json);
      const start = at % (whole.length + 1);
      return Buffer.concat([whole.subarray(0, start), bytes, whole.subarray(start + cut)]);
    }),
);

const headerText = fc.string({ unit: fc.constantFrom(...'abcXYZ0189 -_.,;:=/"\'()*é\t') });

/** Makes a header with one of the `names`. The value is empty, one of the `values`, or random text. */
const header = (names: string[], ...values: string[]) =>
  fc
    .tuple(fc.constantFrom(...names), fc.oneof(headerText, fc.constantFrom('', ...values)))
    .map(([name, value]) => `${name}: ${value}`);

const codings = ['Transfer-Encoding', 'Content-Encoding', 'Expect', 'Upgrade', 'TE'];
const otherNames = ['Accept', 'Host', 'Cookie', 'Origin', 'X-Request-Id', 'Forwarded', 'a b', ''];

const anyHeaders = fc.array(
  fc.oneof(
    header(['Authorization', 'authorization'], `Bearer ${token}`, 'Bearer x', 'Basic eA=='),
    header(['Content-Type'], 'application/json', 'application/json; charset=utf-8', 'text/json'),
    header(['Content-Length'], ...Array.from({ length: 101 }, (_, length) => String(length))),
    header(codings, 'chunked', 'gzip', 'identity', '100-continue', 'h2c'),
    header([...otherNames, 'X-HTTP-Method-Override']),
  ),
  { maxLength: 6 },
);

describe('random requests', () => {
  const server = shareServer();
  /** The plants that the server acknowledged with 200. The table must contain these plants and no others. */
  const acknowledged = new Map<bigint, Omit<Row, 'id'>>();

  /** Sends a request. Compares the response with the OpenAPI document and with the acknowledged plants. */
  async function check({ headers, body }: Request, plant?: Row): Promise<number> {
    const head = Buffer.from(rawRequest('POST /plants', [close, ...headers]), 'latin1');
    const response = await sendRaw(server.url, Buffer.concat([head, body, filler]));
    const { status } = response;
    if (status !== 501) expect(status).toBeLessThan(500);
    const document = await documentOf(server.url);
    document.expectDescribed('POST /plants', response);
    if (!plant || (status !== 200 && status !== 409)) return status;
    const { id, ...row } = plant;
    const stored = acknowledged.get(id) ?? (status === 200 ? row : undefined);
    expect(isDeepStrictEqual(stored, row)).toBe(status === 200);
    if (status === 409) return status;
    const created = { name: row.name, ...(row.tag !== null && { tag: row.tag }) };
    expect(JSON.parse(response.body)).toStrictEqual(created);
    acknowledged.set(id, row);
    return status;
  }

  /** Runs a check with `numRuns` random values. After a failure, fast-check prints the seed. */
  const forAll = <T>(numRuns: number, values: fc.Arbitrary<T>, run: (value: T) => Promise<void>) =>
    fc.assert(fc.asyncProperty(values, run), { numRuns });

  it('a request with a valid plant gets 200 or 409', () =>
    forAll(150, anyPlant, async ({ json, plant }) => {
      expect([200, 409]).toContain(await check(wellFormed(json), plant));
    }));

  it('the OpenAPI document describes the response to a request with random headers', () =>
    forAll(200, fc.tuple(anyHeaders, anyPlant), async ([headers, { json, plant }]) => {
      await check({ headers, body: Buffer.from(json) }, plant);
    }));

  it('a request with an invalid plant gets 400', () =>
    forAll(150, invalidPlantJson, async (json) => {
      expect(await check(wellFormed(json))).toBe(400);
    }));

  it('the table contains exactly the plants that the server acknowledged with 200', async () => {
    const rows = await storedPlants(server);
    expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(acknowledged);
    expect(rows.length).toBeGreaterThan(30);
  });

  const anyJson = fc.oneof(
    anyPlant.map(({ json }) => json),
    invalidPlantJson,
    anyValue,
  );

  it('a create gets the same response over REST and tRPC', () =>
    forAll(150, anyJson, async (json) => {
      const status = await check(wellFormed(json));
      const sent = surfaces.map((surface) => surface.send(server, json));
      const responses = (await Promise.all(sent)).map(({ headers, ...response }) => response);
      expect(responses[0]?.status).toBe(status);
      expect(responses[0]).toEqual(responses[1]);
    }));

  it('the OpenAPI document describes the response to a request with a random body', () =>
    forAll(150, anyBody, async (body) => void (await check(wellFormed(body)))));

  it('random bytes, except line ends alone, get a status from 400 to 499', () =>
    forAll(80, fc.uint8Array({ minLength: 1 }), async (bytes) => {
      const { status } = await sendRaw(server.url, bytes, true);
      expect(status >= 400 && status < 500).toBe(!onlyLineEnds(bytes));
    }));
});

/** When the Content-Length is larger than the body, the server reads these bytes as the end of the body. */
const filler = Buffer.alloc(100, ' ');

interface Request {
  headers: string[];
  body: Buffer;
}

function wellFormed(text: string | Buffer): Request {
  const body = Buffer.from(text);
  return { headers: [authorization, contentType, `Content-Length: ${body.length}`], body };
}

const onlyLineEnds = (bytes: Uint8Array) => bytes.every((byte) => byte === 10 || byte === 13);
