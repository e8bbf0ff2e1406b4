import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as tls from 'node:tls';
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
  readonly tlsOf: (host: string) => tls.ConnectionOptions | false;
  /** Further settings of the session. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Parses a URL as libpq does ("Connection URIs" in PostgreSQL's manual), and reads its certificates. Several
 * hosts are separated by commas. `?host=/run/postgresql` names a Unix socket.
 *
 * @throws DatabaseSettingsError with a message that contains no part of the password
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  try {
    const { url, hosts } = split(text);
    const decode = (part: string) => decodeURIComponent(part) || undefined;
    const [user, password] = [decode(url.username), decode(url.password)];
    const database = decode(url.pathname.slice(1));
    const { host, port, pgbouncer, sslmode, sslrootcert, ...settings } = Object.fromEntries(
      url.searchParams,
    );
    return {
      hosts: (host ?? hosts).split(',').map((each) => parseHost(decodeURIComponent(each), port)),
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
    throw new DatabaseSettingsError(`check its URL, ${databaseUrlSyntax}`, cause);
  }
}

export function isDatabaseUrl(text: string): boolean {
  try {
    return split(text).hosts !== undefined;
  } catch {
    return false;
  }
}

/** Removes the password from a URL, so that the URL may be shown. */
export function withoutPassword(text: string): string {
  return text.replace(/^(\w+:\/\/[^:/?]*):[^?]*@/, '$1@');
}

/** Names the hosts and the database of a URL, without user, password and parameters. */
export function describeDatabaseUrl(text: string): string {
  const { hosts, credentials } = parseDatabaseUrl(text);
  return `${hosts.map(({ host, port }) => `${host}:${port}`)}/${credentials.database ?? ''}`;
}

/** Splits a URL, because the class `URL` knows only one host. */
function split(text: string): { url: URL; hosts: string } {
  const [, authority = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?]*)(.*)$/s.exec(text) ?? [];
  const hosts = authority.slice(authority.lastIndexOf('@') + 1);
  const single = `postgres://${authority.slice(0, authority.length - hosts.length)}host${rest}`;
  if (!/^postgres(ql)?:\/\/./.test(text)) throw new Error('it does not start with postgres://');
  // Such a character in a password makes a part of the password look like a path or a host.
  const isCut = /#|%(?![\da-f]{2})/i.test(text) || /^[^?]*@/.test(rest);
  if (!isCut && URL.canParse(single)) return { url: new URL(single), hosts };
  throw new Error(
    'a user name or a password with the characters / ? # % or @ must be percent-encoded: ' +
      'write %2F for /, %3F for ?, %23 for #, %25 for % and %40 for @',
  );
}

function parseHost(text: string, commonPort = '5432'): Host {
  if (text.startsWith('/')) return { host: text, port: Number(commonPort) };
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text);
  const [, ipv6, name, port = commonPort] = match ?? [];
  if (match && Number(port) >= 1 && Number(port) <= 65_535) {
    return { host: (ipv6 ?? name) || 'localhost', port: Number(port) };
  }
  // The text may be a part of the password, so the message does not quote it.
  throw new Error('a host or a port is not valid: write host:port, or [::1]:port for IPv6');
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
  const ca = sslrootcert === undefined ? {} : { ca: readAuthorities(sslrootcert) };
  // A public authority gives certificates to anybody, so the name must match, too.
  const checksName = mode === 'verify-full' || sslrootcert === 'system';
  return (host) => {
    if (mode === 'disable' || host.startsWith('/')) return false;
    if (mode === 'require' && !sslrootcert) return { rejectUnauthorized: false };
    if (!checksName) return { ...ca, checkServerIdentity: () => undefined };
    // For an IP address, postgres.js passes no name, and Node would check for the name "localhost".
    const nameOf = (name: string) => (isIP(host) ? host : name);
    return { ...ca, checkServerIdentity: (name, it) => tls.checkServerIdentity(nameOf(name), it) };
  };
}

function readAuthorities(sslrootcert: string): string | string[] {
  if (sslrootcert === 'system') return tls.getCACertificates('system');
  try {
    return readFileSync(sslrootcert, 'utf8');
  } catch (cause) {
    const message = `sslrootcert is ${sslrootcert}, a file that cannot be read: set a PEM file`;
    throw new Error(message, { cause });
  }
}
