import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  anyBody,
  anyHeaders,
  anyValue,
  invalidPlantJson,
  plantJson,
} from '../fixtures/arbitrary-requests.ts';
import { documentOf } from '../fixtures/document.ts';
import {
  bearer,
  close,
  contentType,
  rawPost,
  rawRequest,
  sendRaw,
} from '../fixtures/raw-request.ts';
import { readPlant } from '../fixtures/read-plant.ts';
import { type Row, startServer, storedPlants, type TestServer, token } from '../fixtures/server.ts';
import { surfaces } from '../fixtures/surfaces.ts';

interface Outcome {
  result?: string;
  error?: number;
}

/** The seed is different in each run. Set `FAST_CHECK_SEED` to repeat a run. */
const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);

/** Multiplies the number of random requests. Set `FAST_CHECK_RUNS` for a long run. */
const times = Number(process.env['FAST_CHECK_RUNS'] ?? 1);

const authorization = bearer(token);

describe(`random requests with the seed ${seed}`, () => {
  let server: TestServer;
  let document: Awaited<ReturnType<typeof documentOf>>;
  /** The plants that the server acknowledged with 200. The table must contain these plants and no others. */
  const acknowledged = new Map<bigint, Omit<Row, 'id'>>();

  beforeAll(async () => {
    console.log(`any request: seed ${seed}`);
    server = await startServer();
    document = await documentOf(server.url);
  });

  /**
   * Sends a request and compares the response with the OpenAPI document and with the stored plants.
   */
  async function check({ headers, body }: Request): Promise<number> {
    const head = Buffer.from(rawRequest('POST /plants', [close, ...headers]), 'latin1');
    const response = await sendRaw(server.url, Buffer.concat([head, body, filler]));
    const json: unknown = JSON.parse(response.body);
    if (response.status !== 501) expect(response.status).toBeLessThan(500);
    expect(document.operation('POST /plants').differencesFrom(response)).toEqual([]);

    const plant = readPlant(body.toString());
    if (response.status === 200) {
      if (!plant) throw new Error('an invalid plant got 200');
      const { id, ...row } = plant;
      expect(json).toStrictEqual({ name: row.name, ...(row.tag !== null && { tag: row.tag }) });
      expect(acknowledged.get(id) ?? row).toEqual(row);
      acknowledged.set(id, row);
    } else if (plant && response.status === 409) {
      const { id, ...row } = plant;
      expect(acknowledged.get(id)).not.toEqual(row);
      expect(acknowledged.has(id)).toBe(true);
    }
    return response.status;
  }

  /** Runs a check with `numRuns` random values. */
  const forAll = <T>(numRuns: number, values: fc.Arbitrary<T>, run: (value: T) => Promise<void>) =>
    fc.assert(fc.asyncProperty(values, run), { seed, numRuns: numRuns * times });

  it('a request with a valid plant gets 200 or 409', () =>
    forAll(150, plantJson, async (json) => {
      expect([200, 409]).toContain(await check(wellFormed(Buffer.from(json))));
    }));

  it('a request with an invalid plant gets 400', () =>
    forAll(150, invalidPlantJson, async (json) => {
      expect(await check(wellFormed(Buffer.from(json)))).toBe(400);
    }));

  it('a request with random JSON or random bytes gets a response that the document describes', () =>
    forAll(150, anyBody, async (body) => void (await check(wellFormed(body)))));

  it('a request with random headers gets a response that the document describes', () =>
    forAll(200, fc.tuple(anyHeaders, plantJson), async ([headers, json]) => {
      await check({ headers, body: Buffer.from(json) });
    }));

  it('a create gets the same response over REST and tRPC', () =>
    forAll(150, fc.oneof(plantJson, invalidPlantJson, anyValue), async (json) => {
      const status = await check(wellFormed(Buffer.from(json)));
      const responses = await Promise.all(surfaces.map((surface) => surface.send(server, json)));
      expect(responses.map((response) => response.status)).toEqual([status, status]);
      expect(responses[0]?.body).toEqual(responses[1]?.body);
    }));

  const oneOrMore = { minLength: 1, maxLength: 8 };
  const mostlyValid = fc.oneof({ weight: 9, arbitrary: plantJson }, invalidPlantJson);

  it('each plant of a list gets the result that a request with only this plant would get', () =>
    forAll(100, fc.array(mostlyValid, oneOrMore), async (texts) => {
      const request = rawPost(`{"plants":[${texts}]}`, '/plants/batch', [close]);
      const response = await sendRaw(server.url, request);
      expect(document.operation('POST /plants/batch').differencesFrom(response)).toEqual([]);
      const plants = texts.map(readPlant);
      if (plants.includes(undefined)) return void expect(response.status).toBe(400);
      expect(response.status).toBe(200);
      const expected = plants.map((plant) => {
        const { id, ...row } = plant as Row; // The cast is safe, because no plant is undefined here.
        const stored = acknowledged.get(id);
        acknowledged.set(id, stored ?? row);
        if (stored === undefined) return 'created';
        return isDeepStrictEqual(stored, row) ? 'exists' : 40900;
      });
      const { results } = JSON.parse(response.body);
      expect(results.map(({ result, error }: Outcome) => error ?? result)).toEqual(expected);
    }));

  it('bytes that are not HTTP get a status from 400 to 499', () =>
    forAll(80, fc.uint8Array({ minLength: 1 }), async (bytes) => {
      const { status } = await sendRaw(server.url, bytes, { isAll: true });
      expect(status >= 400 && status < 500).toBe(!onlyLineEnds(bytes));
    }));

  it('the table contains exactly the plants that the server acknowledged with 200', async () => {
    await server.stop();
    const rows = await storedPlants(server);
    expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(acknowledged);
    expect(rows.length).toBeGreaterThan(100);
  });
});

/** When the Content-Length is larger than the body, the server reads these bytes as the end of the body. */
const filler = Buffer.alloc(100, ' ');

interface Request {
  headers: string[];
  body: Buffer;
}

const wellFormed = (body: Buffer): Request => ({
  headers: [authorization, contentType, `Content-Length: ${body.length}`],
  body,
});

const onlyLineEnds = (bytes: Uint8Array) => bytes.every((byte) => byte === 10 || byte === 13);
