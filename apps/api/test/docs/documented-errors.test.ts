import { type ErrorKind, errorCatalogue, httpStatus } from '@plant-store/schemas';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorExamples } from '../../src/errors/error-examples.ts';
import { documentValidator } from '../fixtures/document-validator.ts';
import { startIdentityProvider } from '../fixtures/identity-provider.ts';
import { sendRaw } from '../fixtures/raw-request.ts';
import { type RunningServer, startServer } from '../fixtures/running-server.ts';
import { post } from '../fixtures/surfaces.ts';

interface Reply {
  status: number;
  headers: Headers;
  body: string;
}

let server: RunningServer;
let document: Awaited<ReturnType<typeof documentValidator>>;

beforeAll(async () => {
  server = await startServer('Postgres');
  document = await documentValidator(server.url);
});

afterAll(() => server.stop());

const monstera = '{"id":1,"name":"Monstera deliciosa"}';
const create = (json = monstera, headers?: Record<string, string>) =>
  read(post(server, '/plants', json, headers));
const raw = (text: string) => sendRaw(server.url, text);

/** What brings each error about. */
const provoked: Record<ErrorKind, () => Promise<Reply>> = {
  bodyNotJson: () => create(''),
  invalidInput: () => create('{"id":"1"}'),
  malformedRequest: () =>
    raw(
      'GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\nConnection: close\r\n\r\n',
    ),
  tokenMissing: () => create(monstera, { authorization: '' }),
  tokenInvalid: () => create(monstera, { authorization: 'Bearer guess' }),
  pathUnknown: () => read(fetch(`${server.url}/plant`)),
  methodNotAllowed: () => read(fetch(`${server.url}/plants`)),
  requestTimeout: () =>
    aside({ requestTimeout: 100 }, ({ url }) => sendRaw(url, 'POST /plants HTTP/1.1\r\n')),
  idTaken: async () => {
    await create();
    return create('{"id":1,"name":"Ficus lyrata"}');
  },
  bodyTooLarge: () => create(`"${'a'.repeat(2 ** 20)}"`),
  unsupportedMediaType: () => create(monstera, { 'content-type': 'text/plain' }),
  expectationFailed: () => raw('GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n'),
  rateLimited: () =>
    aside({ rateLimit: 2 }, async (limited) => {
      for (const _ of [1, 2]) await post(limited, '/plants', monstera);
      return read(post(limited, '/plants', monstera));
    }),
  headersTooLarge: () => raw(`GET / HTTP/1.1\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`),
  internal: () => {
    const bug = async () => {
      throw new TypeError('a bug');
    };
    return aside({ create: bug }, (broken) => read(post(broken, '/plants', monstera)));
  },
  databaseUnavailable: () =>
    aside({}, async (bare) => {
      const sql = postgres(bare.databaseUrl ?? '');
      await sql`alter table plants rename to gone`;
      const reply = await read(post(bare, '/plants', monstera));
      await sql`alter table gone rename to plants`;
      await sql.end();
      return reply;
    }),
  overloaded: () =>
    aside({}, async (busy) => {
      const sql = postgres(busy.databaseUrl ?? '');
      const lock = await sql.reserve();
      await lock`begin`;
      await lock`lock table plants in access exclusive mode`;
      const creates = Array.from({ length: 20_000 }, (_, i) =>
        busy.store.create({ id: BigInt(i), name: 'x' }),
      );
      const settled = Promise.allSettled(creates);
      const reply = await read(post(busy, '/plants', monstera));
      await lock`rollback`;
      lock.release();
      await settled;
      await sql.end();
      return reply;
    }),
  shuttingDown: () =>
    aside({}, async (closing) => {
      await closing.store.close();
      return read(post(closing, '/plants', monstera));
    }),
  identityProviderUnavailable: async () => {
    const provider = await startIdentityProvider();
    await provider.addKey('only');
    const jwt = await provider.sign();
    await provider.stop();
    return aside({ jwts: provider.settings }, ({ url }) =>
      read(post({ url, token: jwt }, '/plants', monstera)),
    );
  },
};

/** Asks a server of its own, set up so that it fails. */
async function aside(
  options: Parameters<typeof startServer>[1],
  ask: (server: RunningServer) => Promise<Reply>,
): Promise<Reply> {
  const other = await startServer('Postgres', options);
  const reply = await ask(other);
  await other.stop();
  return reply;
}

async function read(sent: Promise<Response>): Promise<Reply> {
  const reply = await sent;
  return { status: reply.status, headers: reply.headers, body: await reply.text() };
}

describe('the document', () => {
  it('declares the statuses of success and of every error', () => {
    const kinds = Object.keys(provoked) as ErrorKind[]; // Its own keys, which TypeScript widens.
    expect(document.statuses).toEqual([...new Set([200, ...kinds.map(httpStatus)])].toSorted());
  });

  it('says how success is answered', async () => {
    const reply = await create('{"id":2,"name":"Hoya carnosa","tag":"Apocynaceae"}');
    expect(document.problemsWith({ ...reply, body: JSON.parse(reply.body) })).toEqual([]);
  });

  it.each(Object.entries(provoked))(
    'says how %s is answered, to the letter',
    async (key, provoke) => {
      const kind = key as ErrorKind; // A key of the record, which TypeScript widens.
      const reply = await provoke();
      const body = JSON.parse(reply.body);
      expect(body).toEqual({ error: errorCatalogue[kind].code, message: errorExamples[kind] });
      expect(document.examplesOf(httpStatus(kind))).toContainEqual(body);
      expect(document.problemsWith({ ...reply, body })).toEqual([]);
    },
  );
});

describe('the page of errors', () => {
  it('has every error at its number, offline and without scripts', async () => {
    const { status, headers, body } = await read(fetch(`${server.url}/docs/errors`));
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(body).not.toMatch(/<script|(src|href)="(https?:)?\/\//);
    for (const [kind, message] of Object.entries(errorExamples)) {
      const { code } = errorCatalogue[kind as ErrorKind]; // A key of the record, likewise.
      const [, section = ''] =
        new RegExp(`<section id="${code}">(.*?)</section>`, 's').exec(body) ?? [];
      expect(section).toContain(JSON.stringify(message).replaceAll('<', '&lt;'));
    }
  });

  it('is found from the document and has a way back', async () => {
    const { body } = await read(fetch(`${server.url}/openapi.json`));
    expect(JSON.parse(body).info.description).toContain('(/docs/errors)');
    const page = await read(fetch(`${server.url}/docs/errors`));
    expect(page.body).toContain('href="/docs"');
  });
});

it('has an icon for its pages', async () => {
  const reply = await fetch(`${server.url}/favicon.ico`);
  expect(reply.status).toBe(200);
  expect(reply.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
});
