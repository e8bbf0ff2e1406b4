import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { documentValidator } from './fixtures/document-validator.ts';
import { sendRaw } from './fixtures/raw-request.ts';
import { type Row, type RunningServer, startServer } from './fixtures/running-server.ts';
import { surfaces } from './fixtures/surfaces.ts';

/** A new one for every run; set it to repeat a run. */
const seed = Number(process.env['FAST_CHECK_SEED'] ?? Date.now() % 2 ** 31);

describe(`any request (seed ${seed})`, () => {
  let server: RunningServer;
  let document: Awaited<ReturnType<typeof documentValidator>>;
  /** What the table must hold: everything that was answered 200, as it was sent. */
  const acknowledged = new Map<bigint, Omit<Row, 'id'>>();

  beforeAll(async () => {
    console.log(`any request: seed ${seed}`);
    server = await startServer('Postgres', { logLevel: 'silent', requestTimeout: 500 });
    document = await documentValidator(server.url);
  });

  /** Sends a request and holds the reply against the document and against what is stored already. */
  async function check({ headers, body }: Request): Promise<number> {
    const head = [`POST /plants HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', ''];
    const request = [Buffer.from(head.join('\r\n'), 'latin1'), body, filler];
    const reply = await sendRaw(server.url, Buffer.concat(request));
    const json: unknown = JSON.parse(reply.body);
    expect(reply.status).toBeLessThan(500);
    expect(document.problemsWith({ ...reply, body: json })).toEqual([]);

    const plant = readPlant(body.toString());
    if (reply.status === 200) {
      if (!plant) throw new Error('what is no plant was answered 200');
      const { id, ...row } = plant;
      expect(json).toStrictEqual({ name: row.name, ...(row.tag !== null && { tag: row.tag }) });
      expect(acknowledged.get(id) ?? row).toEqual(row);
      acknowledged.set(id, row);
    } else if (plant && reply.status === 409) {
      const { id, ...row } = plant;
      expect(acknowledged.get(id)).not.toEqual(row);
      expect(acknowledged.has(id)).toBe(true);
    }
    return reply.status;
  }

  const runs = (numRuns: number) => ({ seed, numRuns });

  it('with a plant in it is answered 200, or 409 where the id is taken', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(plantJson, async (json) => {
        expect([200, 409]).toContain(await check(wellFormed(Buffer.from(json))));
      }),
      runs(1500),
    );
  });

  it('with a broken plant in it is refused', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(brokenPlantJson, async (json) => {
        expect(await check(wellFormed(Buffer.from(json)))).toBe(400);
      }),
      runs(1000),
    );
  });

  it('with any JSON or any bytes in it is answered as the document says', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(anyBody, async (body) => void (await check(wellFormed(body)))),
      runs(1200),
    );
  });

  it('with any headers is answered as the document says', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(anyHeaders, plantJson, async (headers, json) => {
        await check({ headers, body: Buffer.from(json) });
      }),
      runs(1200),
    );
  });

  it('is answered alike over REST and tRPC', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(plantJson, brokenPlantJson, anyValue), async (json) => {
        const status = await check(wellFormed(Buffer.from(json)));
        const answers = await Promise.all(surfaces.map((surface) => surface.send(server, json)));
        expect(answers.map((answer) => answer.status)).toEqual([status, status]);
        expect(answers[0]?.body).toEqual(answers[1]?.body);
      }),
      runs(500),
    );
  });

  it('or no request at all: bytes that are no HTTP get a 4xx', { timeout: 60_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1 }), async (bytes) => {
        const { status } = await sendRaw(server.url, bytes, { isAll: true });
        expect(status >= 400 && status < 500).toBe(!onlyLineEnds(bytes));
      }),
      runs(200),
    );
  });

  it('leaves in the table what was answered 200, exactly as it was sent, and nothing else', async () => {
    const rows = await server.stop();
    expect(new Map(rows.map(({ id, ...row }) => [id, row]))).toEqual(acknowledged);
    expect(rows.length).toBeGreaterThan(100);
  });
});

/** Follows every body, so that the server need not wait for what a header promised. */
const filler = Buffer.alloc(100, ' ');

interface Request {
  headers: string[];
  body: Buffer;
}

const wellFormed = (body: Buffer): Request => ({
  headers: [
    'Authorization: Bearer test-token',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ],
  body,
});

const onlyLineEnds = (bytes: Uint8Array) => bytes.every((byte) => byte === 10 || byte === 13);

const min = -(2n ** 63n);
const max = 2n ** 63n - 1n;

// A few ids come up again and again, so that creates repeat and collide.
const id = fc.oneof(fc.bigInt(-3n, 3n), fc.bigInt(min, max), fc.constantFrom(min, max));

/** The ways to spell an integer in JSON. */
const spelled = fc
  .tuple(id, fc.nat(25), fc.constantFrom('', '.0', '.000'), fc.constantFrom('e', 'E', 'e+', 'E+0'))
  .chain(([integer, shift, fraction, e]) => {
    const [sign, digits] = integer < 0n ? ['-', String(-integer)] : ['', String(integer)];
    const padded = digits.padStart(shift + 1, '0');
    const shifted = `${padded.slice(0, -shift)}.${padded.slice(-shift)}${e}${shift}`;
    const spellings = [
      digits,
      digits + fraction,
      digits === '0' ? '0e-2' : `${digits}00e-2`,
      shift > 0 ? shifted : digits,
    ];
    return fc.constantFrom(...spellings.map((spelling) => sign + spelling));
  });

const storable = fc
  .oneof(fc.constantFrom('', 'Monstera', 'x'), fc.string({ unit: 'binary' }))
  .map((text) => JSON.stringify(text.replaceAll('\0', '')));

const anyValue = fc.json({ maxDepth: 2 });

const extras = fc.array(fc.tuple(fc.constantFrom('a', '__proto__', 'constructor', ''), anyValue), {
  maxLength: 2,
});

const objectOf = (members: (readonly [string, string] | undefined)[]) =>
  `{${members.flatMap((member) => (member ? [`${JSON.stringify(member[0])}: ${member[1]}`] : [])).join(',')}}`;

const plantJson = fc
  .tuple(spelled, storable, fc.option(storable), extras)
  .map(([id, name, tag, more]) =>
    objectOf([...more, ['id', id], tag === null ? undefined : ['tag', tag], ['name', name]]),
  );

const brokenId = fc.oneof(
  anyValue.filter((json) => !/^-?\d/.test(json)),
  fc.bigInt(max + 1n, max ** 2n).map(String),
  fc.bigInt(-(max ** 2n), min - 1n).map(String),
  id.map((integer) => `${integer}.${'0'.repeat(30)}1`),
  id.map((integer) => `${integer === 0n ? 1n : integer}.5e-400`),
);

const brokenText = fc.oneof(
  anyValue.filter((json) => !json.startsWith('"')),
  fc.constantFrom('"\\u0000"', '"a\\ud800"', '"\\udfff\\ud800b"', '"\\uD83E"'),
);

const brokenPlantJson = fc.oneof(
  brokenId.map((id) =>
    objectOf([
      ['id', id],
      ['name', '"x"'],
    ]),
  ),
  brokenText.map((name) =>
    objectOf([
      ['id', '1'],
      ['name', name],
    ]),
  ),
  brokenText.map((tag) =>
    objectOf([
      ['id', '1'],
      ['name', '"x"'],
      ['tag', tag],
    ]),
  ),
  fc.constantFrom(
    '{"id":1}',
    '{"name":"x"}',
    '{}',
    '[]',
    'null',
    '1',
    '"x"',
    '[{"id":1,"name":"x"}]',
  ),
);

const anyBody = fc.oneof(
  fc.json().map((json) => Buffer.from(json)),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  // A plant with a few bytes of it cut out or replaced.
  fc
    .tuple(plantJson, fc.nat(), fc.nat(4), fc.uint8Array({ maxLength: 4 }))
    .map(([json, at, cut, bytes]) => {
      const whole = Buffer.from(json);
      const start = at % (whole.length + 1);
      return Buffer.concat([whole.subarray(0, start), bytes, whole.subarray(start + cut)]);
    }),
);

const headerText = fc.string({ unit: fc.constantFrom(...'abcXYZ0189 -_.,;:=/"\'()*é\t') });

const anyHeaders = fc
  .array(
    fc.oneof(
      fc.tuple(
        fc.constantFrom('Authorization', 'authorization'),
        fc.oneof(headerText, fc.constantFrom('Bearer test-token', 'Bearer x', 'Basic eA==')),
      ),
      fc.tuple(
        fc.constant('Content-Type'),
        fc.oneof(
          headerText,
          fc.constantFrom('application/json', 'application/json; charset=utf-8', 'text/json'),
        ),
      ),
      fc.tuple(fc.constant('Content-Length'), fc.oneof(headerText, fc.nat(100).map(String))),
      fc.tuple(
        fc.constantFrom('Transfer-Encoding', 'Content-Encoding', 'Expect', 'Upgrade', 'TE'),
        fc.oneof(headerText, fc.constantFrom('chunked', 'gzip', 'identity', '100-continue', 'h2c')),
      ),
      fc.tuple(
        fc.constantFrom(
          'Accept',
          'Host',
          'Cookie',
          'Origin',
          'X-Request-Id',
          'X-HTTP-Method-Override',
          'Forwarded',
          'a b',
          '',
        ),
        headerText,
      ),
    ),
    { maxLength: 6 },
  )
  .map((headers) => headers.map(([name, value]) => `${name}: ${value}`));

/** Reads a plant out of JSON by other means than the server's; undefined where there is none. */
function readPlant(text: string): Row | undefined {
  let json: unknown;
  const sources = new Map<unknown, string | undefined>();
  try {
    json = JSON.parse(text, function (this: unknown, key, value, context?: { source?: string }) {
      if (key === 'id') sources.set(this, context?.source);
      return value;
    });
  } catch {
    return undefined;
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return undefined;
  const { id: rounded, name, tag } = json as Record<string, unknown>;
  const id = typeof rounded === 'number' ? integerFrom(sources.get(json) ?? '') : undefined;
  const isText = (value: unknown) =>
    typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
  if (id === undefined || !isText(name) || (tag !== undefined && !isText(tag))) return undefined;
  return { id, name: name as string, tag: (tag as string | undefined) ?? null };
}

/** The int64 that a JSON number is, by arithmetic on the whole of it. */
function integerFrom(source: string): bigint | undefined {
  const [, mantissa = '', exponent = '0'] = /^([^eE]*)(?:[eE](.*))?$/.exec(source) ?? [];
  const [whole = '', fraction = ''] = mantissa.split('.');
  const scale = Number(exponent) - fraction.length;
  if (Math.abs(scale) > 2000) return undefined;
  const digits = BigInt(whole.replace('-', '') + fraction);
  const power = 10n ** BigInt(Math.abs(scale));
  if (scale < 0 && digits % power !== 0n) return undefined;
  const value = (scale < 0 ? digits / power : digits * power) * (whole.startsWith('-') ? -1n : 1n);
  return value >= min && value <= max ? value : undefined;
}
