import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, getCACertificates, type PeerCertificate } from 'node:tls';
import { makeCertificate, startPostgres, type TestPostgres } from '@plant-store/test-setup';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openPlantStore } from '../../src/plant-store.ts';
import { postgresOverTls } from '../../src/postgres/tls.ts';

const host = 'postgres://db.example.com';
const optionsOf = (url: string) => postgresOverTls(url).options;

describe('the driver', () => {
  it('gets the address, the user, the password and the database of the URL', () => {
    expect(optionsOf('postgres://ann:secret@db.example.com:5433/plants')).toMatchObject({
      host: ['db.example.com'],
      port: [5433],
      user: 'ann',
      pass: 'secret',
      database: 'plants',
      ssl: false,
    });
  });

  it('reads missing parts of the URL from environment variables', () => {
    const variables = { PGHOST: 'h', PGPORT: '1', PGUSER: 'u', PGPASSWORD: 'p', PGDATABASE: 'd' };
    for (const [name, value] of Object.entries({ ...variables, PGSSL: 'require' })) {
      vi.stubEnv(name, value);
    }
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(optionsOf('postgres:///?x=y')).toMatchObject({
      ...{ host: ['h'], port: [1], user: 'u', pass: 'p', database: 'd', ssl: 'require' },
    });
  });

  it('sends settings of the session to the server, but no settings of the client', () => {
    const parameters =
      'search_path=garden&connect_timeout=1&target_session_attrs=any&sslmode=disable';
    const { connection } = postgresOverTls(`${host}/?${parameters}`, {
      connection: { application_name: 'test' },
    }).options;
    expect(connection).toEqual({ application_name: 'test', search_path: 'garden' });
  });

  it.each([
    ['sslmode=disable', false],
    ['ssl=false', false],
    ['sslmode=allow', 'prefer'],
    ['sslmode=prefer', 'prefer'],
    ['ssl=prefer', 'prefer'],
    ['sslmode=require', { rejectUnauthorized: false }],
    ['sslmode=require&ssl=false', { rejectUnauthorized: false }],
    ['sslmode=verify-full', { checkServerIdentity: expect.any(Function) }],
    ['ssl=true', { checkServerIdentity: expect.any(Function) }],
    ['sslmode=verify-ca', { checkServerIdentity: expect.any(Function) }],
    ['sslmode=require&host=/run/postgresql', false],
  ])('gets the TLS of the parameters %s', (parameters, ssl) => {
    expect(optionsOf(`${host}/?${parameters}`).ssl).toEqual(ssl);
  });

  it('uses no TLS on a Unix domain socket that an option names', () => {
    const { ssl } = postgresOverTls(`${host}/?sslmode=require`, { host: '/run' }).options;
    expect(ssl).toBe(false);
  });

  it('with sslrootcert=system, trusts the authorities of the system and verifies the host', () => {
    for (const mode of ['', '&sslmode=require']) {
      const { ca, checkServerIdentity } = optionsOf(`${host}/?sslrootcert=system${mode}`)
        .ssl as ConnectionOptions; // The cast is safe, because `sslrootcert` turns TLS on.
      expect(ca).toEqual(getCACertificates('system'));
      // Node's check of the host name reads only these fields of a certificate.
      const certificate = { subject: { CN: 'elsewhere' } } as PeerCertificate;
      expect(checkServerIdentity?.('db.example.com', certificate)).toBeInstanceOf(Error);
    }
  });

  it('throws an error that names the valid values when sslmode is unknown or sslrootcert is unreadable', () => {
    expect(() => optionsOf(`${host}?sslmode=verify`)).toThrow(
      'sslmode is verify: set disable, prefer, require, verify-ca or verify-full',
    );
    expect(() => optionsOf(`${host}?sslrootcert=/no/such/file`)).toThrow(
      expect.objectContaining({
        message: 'sslrootcert is /no/such/file, a file that cannot be read: set a PEM file',
        cause: expect.objectContaining({ code: 'ENOENT' }),
      }),
    );
  });
});

describe('TLS to Postgres', () => {
  const authority = makeCertificate('Authority');
  let directory: string;
  let server: TestPostgres;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'plant-store-tls-'));
    await writeFile(join(directory, 'authority'), authority.certificate);
    await writeFile(join(directory, 'other'), makeCertificate('Authority').certificate);
    server = await startPostgres({ fsync: 'off' });
  });

  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });

  /** Configures the server with a certificate for this name. Without a name, the server has no TLS. */
  async function configureServer(name: string | undefined): Promise<void> {
    const sql = postgres(server.url, { max: 1 });
    const { certificate, key } = makeCertificate(name ?? 'nobody', authority);
    for (const [kind, pem] of Object.entries({ cert: certificate, key })) {
      const file = `${name}.${kind}`;
      const rows = `select unnest(string_to_array('${pem.trim()}', E'\n'))`;
      await sql.unsafe(`copy (${rows}) to program 'umask 077 && cat > ${file}'`);
      await sql.unsafe(`alter system set ssl_${kind}_file = '${file}'`);
    }
    await sql.unsafe(`alter system set ssl = ${name ? 'on' : 'off'}`);
    await sql`select pg_reload_conf()`;
    await sql.end();
    await vi.waitFor(async () => {
      const later = postgres(server.url, { max: 1 });
      const [row] = await later`select current_setting('ssl_cert_file') as file`;
      await later.end();
      expect(row).toEqual({ file: `${name}.cert` });
    });
  }

  /** Opens a connection, and returns whether the connection is encrypted. */
  async function isEncrypted(mode: string, rootCert?: string, host = 'localhost') {
    const file = rootCert && `&sslrootcert=${encodeURIComponent(join(directory, rootCert))}`;
    const url = `${server.url.replace('127.0.0.1', host)}?sslmode=${mode}${file ?? ''}`;
    const sql = postgresOverTls(url, { max: 1 });
    try {
      const [row] = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
      return row?.['ssl'];
    } finally {
      await sql.end({ timeout: 0 });
    }
  }

  it('verify-full verifies the certificate and the host name', async () => {
    await configureServer('localhost');
    expect(await isEncrypted('verify-full', 'authority')).toBe(true);
    await expect(isEncrypted('verify-full', 'other')).rejects.toThrow(/certificate/);
    await expect(isEncrypted('verify-full')).rejects.toThrow(/certificate/);
    await expect(isEncrypted('verify-full', 'authority', '127.0.0.1')).rejects.toThrow(
      /IP: 127\.0\.0\.1 is not in the cert's list/,
    );
  });

  it('verify-full verifies the IP address of the URL', async () => {
    await configureServer('127.0.0.1');
    expect(await isEncrypted('verify-full', 'authority', '127.0.0.1')).toBe(true);
    await expect(isEncrypted('verify-full', 'authority')).rejects.toThrow(/Host: localhost/);
  });

  it('verify-ca and require with sslrootcert verify only the authority', async () => {
    await configureServer('elsewhere');
    for (const mode of ['verify-ca', 'require']) {
      expect(await isEncrypted(mode, 'authority')).toBe(true);
      await expect(isEncrypted(mode, 'other')).rejects.toThrow(/certificate/);
    }
    await expect(isEncrypted('verify-ca')).rejects.toThrow(/certificate/);
    await expect(isEncrypted('verify-full', 'authority')).rejects.toThrow(/Host: localhost/);
  });

  it('require and prefer encrypt without verification, and disable does not encrypt', async () => {
    await configureServer('elsewhere');
    expect(await isEncrypted('require')).toBe(true);
    expect(await isEncrypted('prefer')).toBe(true);
    expect(await isEncrypted('disable')).toBe(false);
  });

  it('prefer connects to a server without TLS, and the stricter modes do not', async () => {
    await configureServer(undefined);
    expect(await isEncrypted('prefer')).toBe(false);
    await expect(isEncrypted('require')).rejects.toThrow();
    await expect(isEncrypted('verify-full', 'authority')).rejects.toThrow();
  });

  it('the error says that a server requires TLS', async () => {
    await configureServer('localhost');
    const opening = (parameter = '') =>
      openPlantStore({ databaseUrl: `${server.url}${parameter}` }, { requireConnection: true });
    const sql = postgres(server.url, { max: 1 });
    await sql.unsafe(
      `copy (select 'hostssl all all 127.0.0.1/32 trust') to program 'cat > pg_hba.conf'`,
    );
    await sql`select pg_reload_conf()`;
    await sql.end();
    await vi.waitFor(() =>
      expect(opening()).rejects.toThrow(
        /the server asks for TLS: add \?sslmode=verify-full to its URL, or \?sslmode=require/,
      ),
    );
    await (await opening('?sslmode=require')).close();
  });
});
