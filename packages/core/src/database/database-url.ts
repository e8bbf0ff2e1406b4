import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import { DatabaseSettingsError } from './errors.ts';

/** The form of a database URL, for messages. */
export const databaseUrlSyntax = 'postgres://user:password@host:port/database';

/** A host of the URL. A host that starts with `/` is the directory of a Unix socket. */
export interface Host {
  readonly host: string;
  readonly port: number;
}

/** The parts of a database URL. */
export interface DatabaseAddress {
  readonly hosts: readonly Host[];
  /** Missing parts have the defaults of postgres.js, such as `PGUSER`. */
  readonly credentials: { user?: string; password?: string; database?: string };
  /** Whether the URL names a PgBouncer in transaction mode (`?pgbouncer=true`). */
  readonly isPooler: boolean;
  /** Returns the options of TLS for a host, or false for a connection without TLS. */
  readonly tlsOf: (host: string) => ConnectionOptions | false;
  /** Further settings of the session. */
  readonly settings: Readonly<Record<string, string>>;
}

/** The user, the password, the hosts, the database and the parameters of a URL. */
const pattern =
  /^postgres(?:ql)?:\/\/(?:([^:@/?#]*)(?::([^@/?#]*))?@)?([^@/?#]*)(?:\/([^@?#]*))?(?:\?([^#]*))?$/;

export const isDatabaseUrl = (text: string): boolean => pattern.test(text);

/**
 * Parses a URL as libpq does ("Connection URIs" in PostgreSQL's manual), and reads its certificates. Several
 * hosts are separated by commas. `?host=/run/postgresql` names a Unix socket.
 *
 * @throws DatabaseSettingsError with a message that contains no part of the password
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  try {
    const parts = pattern.exec(text);
    if (!parts) throw new Error('its URL has another form');
    const [user, password, hosts = '', database] = parts
      .slice(1, 5)
      .map((part = '') => decodeURIComponent(part));
    const parameters = Object.fromEntries(new URLSearchParams(parts[5]));
    const {
      host = hosts,
      port = '5432',
      pgbouncer,
      sslmode,
      sslrootcert,
      ...settings
    } = parameters;
    return {
      hosts: host.split(',').map((each) => parseHost(each, port)),
      credentials: {
        ...(user && { user }),
        ...(password && { password }),
        ...(database && { database }),
      },
      isPooler: pgbouncer === 'true',
      tlsOf: readTls(sslmode, sslrootcert),
      settings,
    };
  } catch (cause) {
    const form = `check its URL, ${databaseUrlSyntax}, where special characters are percent-encoded`;
    throw new DatabaseSettingsError(`${form}, such as %40 for @`, cause);
  }
}

/** Names the hosts and the database of a URL, without user, password and parameters. */
export function describeDatabaseUrl(text: string): string {
  const { hosts, credentials } = parseDatabaseUrl(text);
  return `${hosts.map(({ host, port }) => `${host}:${port}`)}/${credentials.database ?? ''}`;
}

function parseHost(text: string, commonPort: string): Host {
  if (text.startsWith('/')) return { host: text, port: Number(commonPort) };
  const { hostname, port } = new URL(`postgres://${text || 'localhost'}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: Number(port || commonPort) };
}

/**
 * Reads `sslmode` and `sslrootcert` ("SSL Support" in PostgreSQL's manual). Without both, a connection has no
 * TLS. With `sslrootcert` alone, the mode is `verify-full`.
 */
function readTls(sslmode?: string, sslrootcert?: string): DatabaseAddress['tlsOf'] {
  const mode = sslmode ?? (sslrootcert === undefined ? 'disable' : 'verify-full');
  if (!['disable', 'require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new Error(`sslmode is ${mode}: set disable, require, verify-ca or verify-full`);
  }
  const authority = sslrootcert === undefined ? {} : { ca: readCertificates(sslrootcert) };
  return (host) => {
    if (mode === 'disable' || host.startsWith('/')) return false;
    // Without `host`, Node would check the certificate of an IP address for the name "localhost".
    if (mode === 'verify-full') return { ...authority, host };
    if (mode === 'require' && !sslrootcert) return { rejectUnauthorized: false };
    return { ...authority, checkServerIdentity: () => undefined };
  };
}

function readCertificates(sslrootcert: string): string {
  try {
    return readFileSync(sslrootcert, 'utf8');
  } catch (cause) {
    const message = `sslrootcert is ${sslrootcert}, a file that cannot be read: set a PEM file`;
    throw new Error(message, { cause });
  }
}
