import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';

const root = new URL('../../../../', import.meta.url);
const page = await readFile(new URL('SECURITY.md', root), 'utf8');
const [, section = ''] = page.split('## What the store promises');

/** The tests of each promise in SECURITY.md: a file, and the names of tests in it. */
const tests: Record<string, readonly (readonly [file: string, ...names: string[]])[]> = {
  'Token first': [
    [
      'apps/api/test/auth/without-a-token.test.ts',
      'no plant is created by %s, whatever the target',
      'the server neither asks for a body nor waits for it over $name',
    ],
  ],
  'One place': [
    [
      'apps/api/test/auth/without-a-token.test.ts',
      'no plant is created over $name with a token in the wrong place',
      'no plant is created over $name with a string that resembles the token',
      'no plant is created over $name with two Authorization headers',
    ],
  ],
  'Other websites': [
    ['apps/api/test/auth/without-a-token.test.ts', 'no other website has access by default'],
    ['apps/api/test/http/cors.test.ts', 'allows nothing to pages of other origins over $name'],
  ],
  'Access tokens': [
    [
      'packages/core/test/access-tokens/access-tokens.test.ts',
      'have 256 random bits after a recognisable prefix',
      'are stored only as their SHA-256',
      'are listed by name, without the token or its hash',
    ],
  ],
  Expiry: [
    [
      'packages/core/test/access-tokens/access-tokens.test.ts',
      'are rejected from their expiry on, even while they are cached',
    ],
  ],
  Revocation: [
    [
      'packages/core/test/access-tokens/access-tokens.test.ts',
      'are rejected at once by the instance that revoked them, and within 30 seconds by others',
    ],
  ],
  Scopes: [
    [
      'packages/core/test/access-tokens/access-tokens.test.ts',
      'have the scopes that they were created with',
    ],
    [
      'apps/api/test/auth/scopes.test.ts',
      'a token with the scopes %s %s %s can do what they name, and nothing else',
    ],
  ],
  Floods: [
    [
      'packages/core/test/access-tokens/principal-cache.test.ts',
      'keeps a valid token during a flood of unknown tokens',
    ],
    [
      'packages/core/test/access-tokens/access-tokens.test.ts',
      'are accepted during a flood of unknown tokens',
    ],
    [
      'apps/api/test/auth/authentication-limit.test.ts',
      'rejects every request of an address that has failed too often, until the minute is over',
    ],
  ],
  Addresses: [
    [
      'apps/api/test/http/trusted-proxy.test.ts',
      'limits the client that a trusted proxy names at %s, and ignores other proxies',
    ],
  ],
  'First token': [
    [
      'apps/api/test/process/first-run-token.test.ts',
      'lets only the owner read a token file that is %s',
    ],
    ['apps/api/test/auth/sign-in.test.ts', 'exchanges the code for the token, once'],
  ],
  JWTs: [
    ['apps/api/test/auth/jwt.test.ts', '%s is rejected'],
    [
      'apps/api/test/auth/forged-jwt.test.ts',
      'is rejected when it names the algorithm %j',
      'is rejected when it is signed with the public key as a shared secret',
      'is rejected when it is signed with a key that it brings or links to',
    ],
  ],
  'Keys of the provider': [
    [
      'apps/api/test/auth/identity-provider-keys.test.ts',
      'are rejected about ten minutes after the provider withdraws them',
      'are not fetched for every unknown key while the provider is %s',
    ],
    ['apps/api/test/env.test.ts', 'rejects %s as the address of the keys'],
  ],
  'Request smuggling': [
    ['apps/api/test/node/smuggling.test.ts', 'does not execute a request that hides behind %s'],
  ],
  'Slow clients': [
    [
      'apps/api/test/node/connections.test.ts',
      'closes connections on which clients send %s, and serves others meanwhile',
      'closes connections whose responses nobody reads, and serves others meanwhile',
      'rejects a further request of a connection on which 100 have no response yet, and closes it',
    ],
  ],
  Secrets: [
    [
      'apps/api/test/observability/secrets.test.ts',
      'no response and no log line contains a token, a value, SQL or a stack trace',
    ],
  ],
  Metrics: [
    ['apps/api/test/observability/metrics.test.ts', 'serves the metrics on their own port only'],
  ],
  'TLS to Postgres': [
    [
      'packages/core/test/database/postgres/tls.test.ts',
      'verify-full verifies the certificate and its host name',
    ],
  ],
  Documentation: [
    [
      'apps/api/test/docs/docs-pages.test.ts',
      'allows the API reference to run only its own scripts',
      'sends %s with headers against sniffing, framing and referrers',
    ],
  ],
};

it('names the promises that have tests here, and no others', () => {
  const [promises = ''] = section.split('\n## ');
  const names = [...promises.matchAll(/^- \*\*(.+?)\.\*\* /gm)].map(([, name]) => name);
  expect(names).toEqual(Object.keys(tests));
});

it.each(Object.entries(tests))('has tests of the promise %s', async (_promise, files) => {
  for (const [file, ...names] of files) {
    const source = await readFile(new URL(file, root), 'utf8');
    for (const name of names) expect(source).toContain(`'${name}'`);
  }
});
