import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as tls from 'node:tls';
import postgres from 'postgres';
import { parseDatabaseUrl } from '../database/database-url.ts';

/**
 * Makes a postgres.js client that reads a URL as libpq does (PostgreSQL's manual, "Connection URIs" and "SSL
 * Support"). postgres.js itself supports neither socket directories nor `verify-ca`, and sends `sslrootcert`
 * to the server as a setting. For an IP address, postgres.js checks the certificate for "localhost".
 *
 * If the URL has neither `sslmode` nor `sslrootcert`, the connection has no TLS. If the URL has only
 * `sslrootcert`, the mode is `verify-full`. Without `sslrootcert`, the client trusts Node's own certificate
 * authorities. A connection over a Unix domain socket has no TLS.
 *
 * @throws Error when the URL cannot be parsed, the `sslmode` is unknown, or the file of `sslrootcert` is not
 *   readable
 */
export function postgresOverTls(
  url: string,
  options: postgres.Options<Record<string, never>> = {},
): postgres.Sql {
  const { hosts, user, password, database, parameters } = parseDatabaseUrl(url);
  const [{ host, port } = {}] = hosts;
  const {
    sslmode,
    ssl: alias,
    sslrootcert: rootCert,
    // These two parameters are for clients. The store ignores both, and does not send them to the server,
    // because the server would reject them.
    connect_timeout: _timeout,
    target_session_attrs: _attributes,
    ...settings
  } = Object.fromEntries(parameters);
  const mode = sslmode ?? (alias && (aliases[alias] ?? alias));
  const server = String(options.host ?? host);
  const ssl = server.startsWith('/') ? false : tlsOptions({ mode, rootCert, server });
  return postgres({
    ...withoutUndefined({ host, port, user, password, database, ssl }),
    ...options,
    connection: { ...options.connection, ...settings },
  });
}

/**
 * Removes undefined options. For a missing option, postgres.js reads an environment variable, such as
 * `PGHOST`.
 */
function withoutUndefined<T extends object>(values: T) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  // The type of `Object.fromEntries` does not contain the properties of `T`.
  return Object.fromEntries(given) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** The values of the parameter `ssl`, which other drivers use instead of `sslmode`. */
const aliases: Record<string, string> = { true: 'verify-full', false: 'disable' };

interface TlsSettings {
  mode: string | undefined;
  rootCert: string | undefined;
  /** The host to which the client connects. */
  server: string;
}

function tlsOptions({
  mode,
  rootCert,
  server,
}: TlsSettings): tls.ConnectionOptions | 'prefer' | false | undefined {
  if (mode === undefined && rootCert === undefined) return undefined;
  const verifyAuthority = { ...authorities(rootCert), checkServerIdentity: () => undefined };
  const verifyHost = { ...verifyAuthority, checkServerIdentity: hostChecker(server) };
  // A public authority gives certificates to anybody, so the client must also verify the host name.
  if (rootCert === 'system') return verifyHost;
  switch (mode) {
    case 'disable':
      return false;
    case 'allow':
    case 'prefer':
      return 'prefer';
    case 'require':
      return rootCert === undefined ? { rejectUnauthorized: false } : verifyAuthority;
    case 'verify-ca':
      return verifyAuthority;
    case 'verify-full':
    case undefined:
      return verifyHost;
    default:
      throw new Error(`sslmode is ${mode}: set disable, prefer, require, verify-ca or verify-full`);
  }
}

function authorities(rootCert: string | undefined): { ca?: string | string[] } {
  if (rootCert === undefined) return {};
  if (rootCert === 'system') return { ca: tls.getCACertificates('system') };
  try {
    return { ca: readFileSync(rootCert, 'utf8') };
  } catch (cause) {
    throw new Error(`sslrootcert is ${rootCert}, a file that cannot be read: set a PEM file`, {
      cause,
    });
  }
}

/** For an IP address, postgres.js passes no name, and Node would check for the name "localhost". */
function hostChecker(server: string): typeof tls.checkServerIdentity {
  return (name, certificate) => tls.checkServerIdentity(isIP(server) ? server : name, certificate);
}
