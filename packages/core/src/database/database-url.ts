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

/** The parts of a database URL, as PostgreSQL's manual describes them in "Connection URIs". */
export interface DatabaseAddress {
  readonly hosts: readonly Host[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly sslmode: string | undefined;
  readonly sslrootcert: string | undefined;
  /** Whether the URL names a PgBouncer in transaction mode (`?pgbouncer=true`). */
  readonly isPooler: boolean;
  /** Further settings of the session. */
  readonly settings: Readonly<Record<string, string>>;
}

/** @throws Error with a message that contains no part of the password */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  const [, authority, rest] = /^postgres(?:ql)?:\/\/([^/?]*)(.*)$/s.exec(text) ?? [];
  if (authority === undefined || rest === undefined) {
    throw new Error('it does not start with postgres://');
  }
  const at = authority.lastIndexOf('@');
  // The class `URL` knows only one host, so it parses the URL without its hosts.
  const url = parse(`postgres://${authority.slice(0, at + 1)}hosts${rest}`);
  const parameters = Object.fromEntries(url.searchParams);
  const take = (name: string) => {
    const value = parameters[name];
    delete parameters[name];
    return value || undefined;
  };
  const [names, port] = [take('host') ?? authority.slice(at + 1), take('port')];
  const isPooler = take('pgbouncer') === 'true';
  // These parameters are for other clients.
  for (const name of ['connect_timeout', 'target_session_attrs', 'ssl']) take(name);
  return {
    hosts: names.split(',').map((name) => parseHost(name, port)),
    user: take('user') ?? decode(url.username),
    password: take('password') ?? decode(url.password),
    database: take('dbname') ?? decode(url.pathname.slice(1)),
    sslmode: take('sslmode'),
    sslrootcert: take('sslrootcert'),
    isPooler,
    settings: parameters,
  };
}

/** Returns the parts of a URL, and reads the certificates that it names. */
export function readDatabaseUrl(text: string): DatabaseAddress & { tlsOf: TlsOf } {
  try {
    const address = parseDatabaseUrl(text);
    return { ...address, tlsOf: readTls(address) };
  } catch (cause) {
    throw new DatabaseSettingsError(`check its URL, ${databaseUrlSyntax}`, cause);
  }
}

export function isDatabaseUrl(text: string): boolean {
  try {
    parseDatabaseUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** Removes the password from a URL, so that the URL may be shown. */
export function withoutPassword(text: string): string {
  const [address = '', query = ''] = text.split('?');
  const shown = query.split('&').filter((each) => !/^password=/i.test(each));
  const parameters = shown.join('&');
  return `${address.replace(/:\/\/([^:]*):.*@/s, '://$1@')}${parameters && `?${parameters}`}`;
}

/** Names the hosts and the database of a URL, without user, password and parameters. */
export function describeDatabaseUrl(text: string): string {
  const { hosts, database = '' } = parseDatabaseUrl(text);
  return `${hosts.map(({ host, port }) => `${host}:${port}`)}/${database}`;
}

function parse(text: string): URL {
  if (isCut(text) || !URL.canParse(text)) {
    throw new Error(
      'a user name or a password with the characters / ? # % or @ must be percent-encoded: ' +
        'write %2F for /, %3F for ?, %23 for #, %25 for % and %40 for @',
    );
  }
  return new URL(text);
}

/** Whether a special character in a password makes a part of the password look like a path. */
function isCut(text: string): boolean {
  const path = text.replace(/^\w+:\/\/[^/?]*/, '');
  return text.includes('#') || /%(?![\da-f]{2})/i.test(text) || /^[^?]*@/.test(path);
}

function parseHost(text: string, commonPort = '5432'): Host {
  const decoded = decode(text) ?? 'localhost';
  if (decoded.startsWith('/')) return { host: decoded, port: Number(commonPort) };
  const [, ipv6, name = 'localhost', port = commonPort] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))?(?::(\d{1,5}))?$/.exec(decoded) ?? [];
  const host = ipv6 ?? name;
  const isValid = decoded.startsWith(host) || decoded.startsWith('[') || decoded.startsWith(':');
  if (isValid && Number(port) >= 1 && Number(port) <= 65_535) return { host, port: Number(port) };
  // The text may be a part of the password, so the message does not quote it.
  throw new Error('a host or a port is not valid: write host:port, or [::1]:port for IPv6');
}

function decode(text: string): string | undefined {
  return decodeURIComponent(text) || undefined;
}

/** Makes the options of TLS for a host. `false`: without TLS. */
type TlsOf = (host: string) => tls.ConnectionOptions | false;

/**
 * Reads `sslmode` and `sslrootcert` as libpq does ("SSL Support" in PostgreSQL's manual). Without both, a
 * connection has no TLS. With `sslrootcert` alone, the mode is `verify-full`.
 */
function readTls({ sslmode, sslrootcert }: DatabaseAddress): TlsOf {
  const mode = sslmode ?? (sslrootcert === undefined ? 'disable' : 'verify-full');
  if (!['disable', 'require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new Error(`sslmode is ${mode}: set disable, require, verify-ca or verify-full`);
  }
  const ca = sslrootcert === undefined ? {} : { ca: readAuthorities(sslrootcert) };
  const anyHost = { ...ca, checkServerIdentity: () => undefined };
  const isVerified = mode === 'verify-full' || (mode !== 'disable' && sslrootcert === 'system');
  return (host) => {
    if (mode === 'disable' || host.startsWith('/')) return false;
    if (isVerified) return { ...ca, checkServerIdentity: checkName(host) };
    return mode === 'require' && !sslrootcert ? { rejectUnauthorized: false } : anyHost;
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

/** For an IP address, postgres.js passes no name, and Node would check for the name "localhost". */
const checkName =
  (host: string): typeof tls.checkServerIdentity =>
  (name, certificate) =>
    tls.checkServerIdentity(isIP(host) ? host : name, certificate);
