import { readFile } from 'node:fs/promises';
import {
  type CitusDatabase,
  createCitusDatabase,
  localhostUnknownWhile,
  startCitus,
} from '@plant-store/test-setup';
import postgres from 'postgres';
import { beforeAll, describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { useDirectory } from '../fixtures/plant-files.ts';
import { hasTerminals, run, runOnTerminal, start } from '../fixtures/run-program.ts';

const done = [
  "done: distribute plants by id over 8 shards, and remove the coordinator's own copy\n",
  'done: distribute the deletions of the feed, which begins anew: followers list the plants again\n',
  'done: copy plant_feed to every node, as a reference table\n',
  'done: copy access_tokens to every node, as a reference table\n',
  'done: copy drizzle.__drizzle_migrations to every node, as a reference table\n',
  'done: create the functions that insert and delete the plants of one node\n',
].join('');

const line = (id: number, name = 'Pilea') => `{"id":${id},"name":"${name}"}\n`;
const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => line(from + i)).join('');

describe('the command line on a Citus cluster', () => {
  const cluster = inject('citus') ?? { nodes: [], coordinatorHasShards: false };
  const directory = useDirectory({ isShared: true });
  let database: CitusDatabase;
  let env: Record<string, string>;
  let onWorker: Record<string, string>;

  beforeAll(async () => {
    database = await createCitusDatabase(cluster);
    env = { DATABASE_URL: database.url };
    onWorker = { DATABASE_URL: database.workerUrls[0] ?? '' };
  });

  const importLines = (input: string, on = env) =>
    run(['import', '-', '--rejects', directory.path('rejects')], { env: on, input });

  it('tells the user of a worker to run distribute first', async () => {
    const { code, stderr } = await run(['token', 'create', 'Ann'], { env: onWorker });
    expect(code).toBe(1);
    expect(stderr).toContain('run plant-store distribute there once');
  });

  it('distributes nothing when Citus, a terminal or the number of shards is missing', async () => {
    expect(await run(['distribute', '--shards', '8'], { env })).toMatchObject({ code: 2 });
    expect(await run(['distribute', '--yes'], { env })).toMatchObject({ code: 2 });
    const plain = Object.assign(new URL(database.url), {
      pathname: 'postgres',
      username: 'postgres',
    });
    const without = await run(['distribute', '--shards', '8', '--yes'], {
      env: { DATABASE_URL: plain.href },
    });
    expect(without).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'does not have the extension Citus: run CREATE EXTENSION citus',
      ),
    });
  });

  it.runIf(hasTerminals)('distributes nothing when the user does not confirm', async () => {
    const { stdout } = await runOnTerminal(['distribute', '--shards', '8'], { env, input: '\n' });
    expect(stdout).toMatch(/distribute plants by id over 8 shards, .*feed, which begins anew/s);
    expect(stdout).toContain('plant-store: nothing is distributed');
    expect(stdout).not.toContain('nodes can store plants');
  });

  it.runIf(hasTerminals)('warns of too few shards before the question', async () => {
    const { stdout } = await runOnTerminal(['distribute', '--shards', '1'], { env, input: '\n' });
    expect(stdout).toMatch(/Only 1 of the 2 nodes can store plants, .*Do this\?/s);
  });

  it('says after an error that the user must run distribute again', async () => {
    const { url, adminUrl } = await createCitusDatabase(cluster);
    const admin = postgres(adminUrl, { max: 1 });
    // The last step fails, because the step replaces this function, which another user owns.
    await admin`create function plant_store_renew(key bigint) returns void language sql as ''`;
    const distribute = () =>
      run(['distribute', '--shards', '4', '--yes'], { env: { DATABASE_URL: url } });
    const { code, stderr } = await distribute();
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr:
        'plant-store: the distribution is incomplete (must be owner of function plant_store_renew): when ' +
        'the cause is fixed, run the same command again, which is safe: it does only what is missing ' +
        '(--verbose shows the cause)\n',
    });
    await admin`drop function plant_store_renew(bigint)`;
    await admin.end();
    expect(await distribute()).toEqual({
      code: 0,
      stdout: 'done: create the functions that insert and delete the plants of one node\n',
      stderr: '',
    });
  });

  it('distributes the stored plants and access tokens, and does nothing when it runs again', async () => {
    await importLines(lines(0, 1_000));
    await run(['token', 'create', 'Ann'], { env });
    const distribute = (shards = '8') => run(['distribute', '--shards', shards, '--yes'], { env });
    const nothing = 'nothing to do: the plants are distributed over 8 shards\n';
    expect(await distribute()).toEqual({ code: 0, stdout: done, stderr: '' });
    expect(await distribute()).toEqual({ code: 0, stdout: nothing, stderr: '' });
    expect(await distribute('16')).toEqual({
      code: 0,
      stdout: `${nothing}the plants keep their 8 shards: docs/scaling.md says how to split a shard\n`,
      stderr: '',
    });
    const sql = postgres(database.url, { max: 1 });
    expect(await sql`select count(*)::int from plants`).toEqual([{ count: 1_000 }]);
    const [{ copy } = {}] = await sql`select pg_relation_size('plants')::int as copy`;
    expect(copy).toBe(0);
    await sql.end();
    expect((await run(['token', 'list'], { env: onWorker })).stdout).toContain('"Ann"');
  });

  it('describes the cluster when doctor runs on any node', async () => {
    for (const node of [env, onWorker]) {
      const { stdout } = await run(['doctor'], { env: node });
      expect(stdout).toMatch(/^ok +distribution +each node has a copy of access_tokens$/m);
      expect(stdout).toMatch(/^ok +cluster +8 shards on 2 nodes$/m);
      expect(
        stdout.match(/^ok +feed +on 127\.0\.0\.1:\d+, the feed of changes is on$/gm),
      ).toHaveLength(2);
      expect(
        stdout.match(/^ok +cluster +127\.0\.0\.1:\d+ has 4 shards, about \d+ plants$/gm),
      ).toHaveLength(2);
    }
  });

  it('describes the cluster in doctor for a user that has only the privileges of a server', async () => {
    const admin = postgres(database.adminUrl, { max: 1 });
    onTestFinished(() => admin.end());
    // Each node needs the user. Citus itself copies the grants to the workers.
    for (const { url } of cluster.nodes) {
      const node = postgres(url, { max: 1 });
      await node`create role visitor login`.finally(() => node.end());
    }
    await admin.unsafe(`
      grant usage on schema public to visitor;
      grant select, insert, delete on plants, plant_deletions to visitor;
      grant select, update on plant_feed, webhooks to visitor;
      grant select, insert, update on access_tokens to visitor`);
    const { href } = Object.assign(new URL(database.url), { username: 'visitor' });
    const { stdout } = await run(['doctor'], { env: { DATABASE_URL: href } });
    expect(stdout).toMatch(/^ok +cluster +8 shards on 2 nodes$/m);
  });

  it('switches the feed of each node off and on', async () => {
    for (const state of ['off', 'on']) {
      const switched = await run(['feed', state, ...(state === 'off' ? ['--yes'] : [])], { env });
      expect(switched).toEqual({
        code: 0,
        stdout: `the feed of changes is ${state}\n`,
        stderr: '',
      });
      const { stdout } = await run(['doctor'], { env });
      const line =
        state === 'off'
          ? /^ok +feed +on \S+, the feed of changes is off: plant-store feed on switches it on$/gm
          : /^warning +feed +on \S+, the feed of changes begins when an instance reads it: start/gm;
      expect(stdout.match(line)).toHaveLength(2);
    }
  });

  it('manages webhooks on each node', async () => {
    const url = 'https://partner.example/plants';
    const webhook = (command: string[], node: typeof env) =>
      run(['webhook', ...command], { env: node });
    const created = await vi.waitFor(async () => {
      const result = await webhook(['create', url, '--name', 'partner'], onWorker);
      expect(result).toMatchObject({ code: 0 });
      return result;
    }, 10_000);
    expect(created.stdout).toMatch(/^whsec_\S+\n$/);
    expect((await webhook(['list'], env)).stdout).toContain('"name":"partner"');
    expect((await webhook(['replay', 'partner', '--since', '1h'], env)).code).toBe(0);
    expect((await webhook(['delete', 'partner'], onWorker)).code).toBe(0);
    expect((await webhook(['list'], onWorker)).stdout).toBe('');
  });

  it('lists the nodes in doctor even when their functions have another version', async () => {
    const sql = postgres(database.url, { max: 1 });
    const [{ signature, version } = {}] = await sql`
      select oid::regprocedure::text as signature, obj_description(oid, 'pg_proc') as version
      from pg_proc where proname = 'plant_store_insert'`;
    await sql.unsafe(`comment on function ${signature} is 'another'`);
    const { stdout } = await run(['doctor'], { env });
    expect(stdout).toMatch(
      /^warning +cluster +not ready \(create the functions .*\): run plant-store distribute on/m,
    );
    expect(stdout).toMatch(/^ok +cluster +8 shards on 2 nodes$/m);
    await sql.unsafe(`comment on function ${signature} is '${version}'`);
    await sql.end();
  });

  it('says in doctor which node this machine cannot reach', async () => {
    const admin = postgres(database.adminUrl, { max: 1 });
    const rename = (name: string) => admin`
      select citus_update_node(nodeid, ${name}, nodeport) from pg_dist_node where groupid = 2`;
    const [{ port } = {}] =
      await admin`select nodeport as port from pg_dist_node where groupid = 2`;
    await rename('localhost');
    const doctor = (options?: { node: string[] }) => run(['doctor'], { env, ...options });
    const unreachable = /^warning +cluster +this machine cannot reach (\S+) itself \((\S+ \S+)/gm;
    expect((await doctor()).stdout).not.toMatch(unreachable);
    // In this process, `localhost` is unknown as long as this test file exists.
    const { stdout } = await doctor({ node: [localhostUnknownWhile(import.meta.filename)] });
    expect([...stdout.matchAll(unreachable)].map(([, ...found]) => found)).toEqual([
      [`localhost:${port}`, 'getaddrinfo ENOTFOUND'],
    ]);
    expect(stdout).toContain('check the address in pg_dist_node');
    await rename('127.0.0.1');
    await admin.end();
  });

  it('says in distribute and in doctor which server process has not noticed the Citus cluster', async () => {
    const instance = postgres(onWorker['DATABASE_URL'] ?? '', {
      max: 1,
      connection: { application_name: 'plant-store process 7' },
    });
    await instance`select 1`;
    const named = /plant-store process 7 at 127\.0\.0\.1, which uses 127\.0\.0\.1:\d+/;
    const doctor = (await run(['doctor'], { env })).stdout;
    expect(doctor).toMatch(new RegExp(`^warning +cluster +${named.source}, has not noticed`, 'm'));
    const { child, result } = start(['distribute', '--shards', '8', '--yes'], { env });
    child.stderr.on('data', (text) => named.test(String(text)) && void instance.end());
    expect(await result).toMatchObject({ code: 0 });
  });

  it('warns in doctor of a version of Citus on which the store was not tested', async () => {
    const admin = postgres(database.adminUrl, { max: 1 });
    const [{ name, version } = {}] = await admin`
      select current_database() as name, extversion as version from pg_extension where extname = 'citus'`;
    await admin.unsafe(`alter database ${name} set citus.enable_version_checks = off`);
    const setVersion = (to: string) =>
      admin`update pg_extension set extversion = ${to} where extname = 'citus'`;
    await setVersion('14.0-1');
    const { stdout } = await run(['doctor'], { env });
    await setVersion(version);
    await admin.end();
    expect(stdout).toMatch(
      /^warning +cluster +the store was not tested on Citus 14\.0-1, .*use 13\.2/m,
    );
  });

  it('counts the created, existing, conflicting and rejected rows of an import on each node', async () => {
    const input = `${lines(900, 9_000)}${line(950, 'Hoya')}${line(20_000)}{"id":"x"}\n`;
    const first = await importLines(input);
    expect(first).toMatchObject({ code: 3 });
    expect(first.stdout).toContain('8001 created, 100 existed, 1 conflicts, 1 rejected');
    const again = await importLines(input, onWorker);
    expect(again).toMatchObject({ code: 3 });
    expect(again.stdout).toContain('0 created, 8101 existed, 1 conflicts, 1 rejected');
  });

  it('exports, lists, gets and deletes the same plants on each node', async () => {
    const onCoordinator = await run(['export'], { env });
    expect(onCoordinator.stdout.match(/\n/g)).toHaveLength(9_001);
    expect(await run(['export'], { env: onWorker })).toEqual(onCoordinator);
    const listed = await run(['list', '--limit', '3'], { env: onWorker });
    expect(listed.stdout.match(/"id":\d+/g)).toEqual(['"id":0', '"id":1', '"id":2']);
    expect((await run(['delete', '1', '--yes'], { env: onWorker })).code).toBe(0);
    expect((await run(['get', '1'], { env })).code).toBe(1);
  });

  it('runs the commands of examples/cluster/compose.yaml', async () => {
    const compose = await readFile(
      new URL('../../../../examples/cluster/compose.yaml', import.meta.url),
      'utf8',
    );
    const statements = [...compose.matchAll(/--command=(.*)$/gm)].map(
      ([, statement = '']) => statement,
    );
    const [, command = ''] = /src\/main\.ts, (distribute.*)\]/.exec(compose) ?? [];
    const example = await createCitusDatabase(cluster, 0);
    const hosts = ['coordinator', 'worker-1', 'worker-2'];
    const sql = postgres(example.adminUrl, { max: 1, onnotice: () => {} });
    for (const statement of statements) {
      const [, host = ''] = /'(.*)', 5432/.exec(statement) ?? [];
      const { port } = new URL(cluster.nodes[hosts.indexOf(host)]?.proxyUrl ?? '');
      await sql.unsafe(statement.replace(/'.*', 5432/, `'127.0.0.1', ${port}`));
    }
    await sql.end();
    const args = command.replaceAll("'", '').split(', ');
    expect(await run(args, { env: { DATABASE_URL: example.url } })).toMatchObject({
      code: 0,
      stdout: done,
    });
    expect(statements).toHaveLength(hosts.length);
  });
});

it('names the Citus node that is down, and says what to do', async () => {
  const cluster = await startCitus({ workers: 1, settings: { fsync: 'off' } });
  onTestFinished(() => cluster.stop());
  const env = { DATABASE_URL: (await createCitusDatabase(cluster.addresses)).url };
  await run(['token', 'create', 'Ann'], { env });
  expect(await run(['distribute', '--shards', '2', '--yes'], { env })).toMatchObject({ code: 0 });
  await cluster.workers[0]?.server.halt();
  const port = new URL(cluster.addresses.nodes[1]?.proxyUrl ?? '').port;
  for (const command of ['token revoke Ann', 'count', 'list', 'export', 'export --paged']) {
    const { code, stderr } = await run(command.split(' '), { env });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^plant-store: a node of the cluster did not respond .*\n$/);
    expect(stderr).toContain(`127.0.0.1:${port}`);
    expect(stderr).toContain('block a leaked one in front of the server');
  }
});
