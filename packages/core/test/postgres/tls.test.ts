import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { makeCertificate, startPostgres, type TestPostgres } from '@plant-store/test-setup';
import type postgres from 'postgres';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openPlantStore } from '../../src/index.ts';
import { connectForTest } from '../fixtures/open-store.ts';

describe('TLS to Postgres', () => {
  const authority = makeCertificate('Authority');
  let directory: string;
  let server: TestPostgres;
  let sql: postgres.Sql;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plant-store-tls-'));
    await writeFile(join(directory, 'authority'), authority.certificate);
    await writeFile(join(directory, 'other'), makeCertificate('Authority').certificate);
    server = await startPostgres({ fsync: 'off' });
    return async () => {
      await server.stop();
      await rm(directory, { recursive: true });
    };
  });

  beforeEach(() => {
    sql = connectForTest(server.url);
  });

  /** Gives the server a certificate for this name. Without a name, the server has no TLS. */
  async function configureServer(name: string | undefined): Promise<void> {
    const { certificate, key } = makeCertificate(name ?? 'nobody', authority);
    for (const [kind, pem] of Object.entries({ cert: certificate, key })) {
      const file = `${name}.${kind}`;
      const rows = `select unnest(string_to_array('${pem.trim()}', E'\n'))`;
      await sql.unsafe(`copy (${rows}) to program 'umask 077 && cat > ${file}'`);
      await sql.unsafe(`alter system set ssl_${kind}_file = '${file}'`);
    }
    await sql.unsafe(`alter system set ssl = ${name ? 'on' : 'off'}`);
    await reload();
    await expect
      .poll(() => sql`select current_setting('ssl_cert_file') as file`)
      .toEqual([{ file: `${name}.cert` }]);
  }

  const reload = () => sql`select pg_reload_conf()`;

  const urlWith = (mode: string, rootCert?: string, host = 'localhost') => {
    const file = rootCert && `&sslrootcert=${encodeURIComponent(join(directory, rootCert))}`;
    return `${server.url.replace('127.0.0.1', host)}?sslmode=${mode}${file ?? ''}`;
  };

  /** Opens a store, and returns whether all of its connections are encrypted. */
  async function isEncrypted(...url: Parameters<typeof urlWith>): Promise<boolean> {
    const databaseUrl = urlWith(...url);
    const store = await openPlantStore({ databaseUrl }, { requireConnection: true });
    try {
      await Promise.all([store.count(), store.list({ limit: 1 }), store.delete(1n)]);
      const rows = await sql`
        select ssl from pg_stat_ssl join pg_stat_activity using (pid)
        where application_name like 'plant-store%' and backend_type = 'client backend'`;
      const [first] = new Set(rows.map(({ ssl }) => ssl));
      expect(rows).toEqual(rows.map(() => ({ ssl: first })));
      return first;
    } finally {
      await store.close();
      await expect
        .poll(() => sql`select from pg_stat_activity where application_name like 'plant-store%'`)
        .toEqual([]);
    }
  }

  const certificate = /certificate/;

  it('verify-full verifies the certificate and the host', async () => {
    await configureServer('localhost');
    expect(await isEncrypted('verify-full', 'authority')).toBe(true);
    await expect(isEncrypted('verify-full', 'other')).rejects.toThrow();
    await expect(isEncrypted('verify-full')).rejects.toThrow();
    await expect(isEncrypted('verify-full', 'authority', '127.0.0.1')).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/127\.0\.0\.1 is not in the cert's list/) },
    });
  });

  it('verify-ca, and require with sslrootcert, verify only the authority', async () => {
    await configureServer('elsewhere');
    for (const mode of ['verify-ca', 'require']) {
      expect(await isEncrypted(mode, 'authority')).toBe(true);
      await expect(isEncrypted(mode, 'other')).rejects.toMatchObject({
        cause: { message: expect.stringMatching(certificate) },
      });
    }
    await expect(isEncrypted('verify-ca')).rejects.toThrow();
    await expect(isEncrypted('verify-full', 'authority')).rejects.toThrow();
  });

  it('require encrypts without verification, and disable does not encrypt', async () => {
    await configureServer('elsewhere');
    expect(await isEncrypted('require')).toBe(true);
    expect(await isEncrypted('disable')).toBe(false);
  });

  it('require and verify-full do not connect to a server without TLS, and the error names TLS', async () => {
    await configureServer(undefined);
    expect(await isEncrypted('disable')).toBe(false);
    const urls: Parameters<typeof urlWith>[] = [['require'], ['verify-full', 'authority']];
    for (const url of urls) {
      const error = await isEncrypted(...url).catch((thrown: Error) => thrown);
      expect(inspect(error)).toMatch(/secure TLS/);
    }
  });

  it('the error for a server that needs TLS advises to change sslmode', async () => {
    await configureServer('localhost');
    await sql.unsafe(
      `copy (select 'hostssl all all 127.0.0.1/32 trust') to program 'cat > pg_hba.conf'`,
    );
    await reload();
    await expect
      .poll(() => isEncrypted('disable').then(String, String))
      .toMatch(
        /If the server asks for TLS, add \?sslmode=verify-full to its URL, or \?sslmode=require/,
      );
    expect(await openPlantStore({ databaseUrl: urlWith('require') }).then((s) => s.close())).toBe(
      undefined,
    );
  });
});
