import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { DatabaseSettingsError } from './errors.ts';

/** The form of a database URL, for messages. */
export const databaseUrlSyntax = 'postgres://user:password@host:port/database';

/** A host of a database URL, and how to connect to it. An empty string means the default of postgres.js. */
export interface DatabaseAddress {
  /** The name of the host, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: ConnectionOptions | false;
  /** Whether the host is a PgBouncer (`?pgbouncer=true`). */
  readonly isPooler: boolean;
  /** Further settings of the session. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Captures the user, the password, the hosts, the database and the parameters of a URL. */
const pattern =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^@/?#]*)(?:\/([^@?#]*))?(?:\?([^#]*))?$/;

export const isDatabaseUrl = (text: string): boolean => pattern.test(text);

/**
 * Returns the addresses in a URL, and reads its certificates. Commas separate several hosts, and
 * `?host=/run/postgresql` names a Unix socket, as in libpq ("Connection URIs" in PostgreSQL's manual). The
 * parser of postgres.js would send `host`, `sslrootcert` and `pgbouncer` to the server.
 *
 * @throws DatabaseSettingsError whose message contains no part of the password
 */
export function parseDatabaseUrl(text: string): DatabaseAddress[] {
  try {
    const [, ...parts] = pattern.exec(text) ?? [];
    if (parts.length === 0) throw new Error('its URL has another form');
    const [user = '', password = '', hosts = '', database = ''] = parts.map((part = '', i) =>
      i < 4 ? decodeURIComponent(part) : part,
    );
    const {
      host: names = hosts,
      port = '5432',
      pgbouncer,
      sslmode,
      sslrootcert,
      ...settings
    } = Object.fromEntries(new URLSearchParams(parts[4]));
    const session = { user, password, database, settings, isPooler: pgbouncer === 'true' };
    return names.split(',').map((name) => {
      const isSocket = name.startsWith('/');
      const url = new URL(`postgres://${isSocket || name === '' ? 'localhost' : name}`);
      const host = isSocket ? name : url.hostname.replace(/^\[(.*)\]$/, '$1');
      const ssl = tlsOf(host, sslmode, sslrootcert);
      return { ...session, host, port: Number(url.port || port), ssl };
    });
  } catch (cause) {
    const form = `check its URL, ${databaseUrlSyntax}, where special characters are percent-encoded`;
    throw new DatabaseSettingsError(`${form}, such as %40 for @`, cause);
  }
}

/** Returns the hosts and the database of a URL, without its user, password and parameters. */
export function describeDatabaseUrl(text: string): string {
  const addresses = parseDatabaseUrl(text);
  return `${addresses.map(({ host, port }) => `${host}:${port}`)}/${addresses[0]?.database}`;
}

/**
 * Reads `sslmode` and `sslrootcert` ("SSL Support" in PostgreSQL's manual). Without these parameters, a
 * connection has no TLS. With only `sslrootcert`, the mode is `verify-full`.
 */
function tlsOf(host: string, sslmode?: string, sslrootcert?: string): DatabaseAddress['ssl'] {
  const mode = sslmode ?? (sslrootcert === undefined ? 'disable' : 'verify-full');
  if (!['disable', 'require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new Error(`sslmode is ${mode}: set disable, require, verify-ca or verify-full`);
  }
  const authority = sslrootcert === undefined ? {} : { ca: readFileSync(sslrootcert) };
  if (mode === 'disable' || host.startsWith('/')) return false;
  // Without `host`, Node would expect the name "localhost" in the certificate of an IP address.
  if (mode === 'verify-full') return { ...authority, host };
  if (mode === 'require' && !sslrootcert) return { rejectUnauthorized: false };
  return { ...authority, checkServerIdentity: () => undefined };
}
