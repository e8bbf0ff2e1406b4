import { explainUnknownSettings, settingNames } from '@plant-store/fast-start/setting-names';
import { expect, it } from 'vitest';
import { serve, startProgram } from '../fixtures/program.ts';

it('lists all invalid settings in one message, with a remedy for each setting and without secret values', async () => {
  const server = startProgram({
    PORT: '70000',
    DATABASE_URL: 'mysql://someone:hidden@db/plants',
    PLANT_STORE_TOKEN: 'two words',
    PLANT_STORE_PROCESSES: 'all',
    PLANT_STORE_RATE_LIMIT: '0',
    PLANT_STORE_AUTH_FAILURE_LIMIT: 'many',
    PLANT_STORE_JWT_ISSUER: 'https://id.example.com',
    PLANT_STORE_JWT_JWKS_URL: 'http://id.example.com/keys',
    PLANT_STORE_TRUST_PROXY: 'true',
    PLANT_STORE_METRICS_PORT: '-1',
    LOG_LEVEL: 'loud',
    PLANT_STORE_JWT_AUDIENCES: 'plant-store',
  });
  expect(await server.ended()).toBe(1);
  expect(server.output()).toBe(`The plant store did not start.
  PORT is "70000": set a port from 0 to 65535, where 0 picks a free one
  DATABASE_URL is not valid: set postgres://user:password@host:port/database, or leave it out for the embedded database
  PLANT_STORE_TOKEN is not valid: set at least 16 letters, digits and - . _ ~ + / at random, = at the end only
  PLANT_STORE_PROCESSES is "all": set how many processes serve, from 1 to 1024, or auto for one on each core of this machine
  PLANT_STORE_RATE_LIMIT is "0": set how many requests a minute one address may send, or leave it out for no limit
  PLANT_STORE_AUTH_FAILURE_LIMIT is "many": set how many times a minute one address may fail to authenticate, or leave it out for no limit
  PLANT_STORE_JWT_JWKS_URL is not valid: set the address of the issuer’s keys: https, or http on this machine alone, without a password
  PLANT_STORE_TRUST_PROXY is "true": set addresses or subnets of proxies, such as 10.0.0.0/8, separated by commas
  PLANT_STORE_METRICS_PORT is "-1": set a port from 0 to 65535, where 0 picks a free one, or leave it out for no metrics
  LOG_LEVEL is "loud": set one of fatal, error, warn, info, debug, trace, silent
  PLANT_STORE_JWT_AUDIENCE is not set: set the \`aud\` of the JWTs that are accepted
  PLANT_STORE_JWT_AUDIENCES is not a setting: did you mean PLANT_STORE_JWT_AUDIENCE?
`);
});

it.each([
  ['PLANT_STORE_TOKN', 'PLANT_STORE_TOKEN'],
  ['PLANT_STORE_PORT', 'PORT'],
  ['PLANT_STORE_DATABASE_URL', 'DATABASE_URL'],
  ['PLANT_STORE_CORS_ORIGIN', 'PLANT_STORE_CORS_ORIGINS'],
  ['PLANT_STORE_ENVFILE', 'PLANT_STORE_ENV_FILE'],
])('names the wrong setting %s and the most similar setting', (name, nearest) => {
  expect(explainUnknownSettings({ [name]: 'x' })).toEqual([
    `${name} is not a setting: did you mean ${nearest}?`,
  ]);
});

it('accepts every setting, and treats an empty variable as unset', () => {
  const known = Object.fromEntries([...settingNames, 'PLANT_STORE_ENV_FILE'].map((n) => [n, 'x']));
  expect(explainUnknownSettings({ ...known, PLANT_STORE_TOKN: '', PLANTS: 'x' })).toEqual([]);
});

it('starts with a warning when the name of an unknown variable is similar to a setting', async () => {
  const settings = { PLANT_STORE_TOKN: 'secret-value', PLANT_STORE_LOG_LEVELS: 'names' };
  const server = await serve(settings);
  expect(server.output()).toMatch(
    /^\{"level":"warn",.*"msg":"PLANT_STORE_TOKN is not a setting: did you mean PLANT_STORE_TOKEN\?"\}$/m,
  );
  expect(server.output()).not.toContain('secret-value');
});

it('rejects several processes on the embedded database', async () => {
  const server = startProgram({ PLANT_STORE_PROCESSES: '2' });
  expect(await server.ended()).toBe(1);
  expect(server.output()).toBe(`The plant store did not start.
  PLANT_STORE_PROCESSES is "2": only one process can use the embedded database. Set DATABASE_URL to a Postgres, or leave it out
`);
});
