import { hasPosixShell } from '@plant-store/test-setup';
import { expect, it } from 'vitest';
import { startIdentityProvider } from '../fixtures/identity-provider.ts';
import {
  printedCommand,
  runInShell,
  serve,
  startProgram,
  temporaryDirectory,
} from '../fixtures/program.ts';
import { post } from '../fixtures/surfaces.ts';

it('serves every printed address', async () => {
  const server = await serve();
  const { url } = server;
  await server.printed(/Add a plant/);
  for (const path of ['/trpc', '/docs', '/openapi.json']) {
    expect(server.output()).toContain(`${url}${path}\n`);
  }
  for (const path of ['/docs/', '/openapi.json', '/livez', '/readyz']) {
    expect((await fetch(url + path)).status).toBe(200);
  }
});

it.runIf(hasPosixShell)(
  'prints a command that creates a plant on a new embedded database',
  async () => {
    // Empty settings count as unset.
    const settings = { PLANT_STORE_TOKEN: '', DATABASE_URL: '', LOG_LEVEL: '' };
    const server = startProgram({
      PLANT_STORE_DATA_DIR: await temporaryDirectory(),
      ...settings,
    });
    const command = await printedCommand(server);
    for (const _ of ['first', 'repeated']) {
      expect(await runInShell(command)).toBe('{"name":"Monstera deliciosa","tag":"Araceae"}');
    }
  },
);

it('accepts the JWTs of the configured identity provider', async () => {
  const provider = await startIdentityProvider();
  await provider.addKey('first');
  const { url } = await serve({
    PLANT_STORE_JWT_ISSUER: provider.settings.issuer,
    PLANT_STORE_JWT_AUDIENCE: provider.settings.audience,
    PLANT_STORE_JWT_JWKS_URL: provider.settings.jwksUrl,
  });
  expect(
    (await post({ url, token: await provider.sign() }, '/plants', '{"id":1,"name":"x"}')).status,
  ).toBe(200);
  await provider.stop();
});
