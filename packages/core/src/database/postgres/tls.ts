import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as tls from 'node:tls';
import postgres from 'postgres';

/**
 * Makes a postgres.js client that reads `sslmode` and `sslrootcert` in its URL as libpq does
 * (PostgreSQL's manual, "SSL Support"). postgres.js itself does not support `verify-ca`, sends
 * `sslrootcert` to the server as a setting, and compares the certificate of an IP address with the
 * name "localhost".
 *
 * Without both parameters the connection has no TLS. `sslrootcert` alone means `verify-full`. Without
 * `sslrootcert` the client trusts Node's own authorities.
 *
 * @throws Error when the `sslmode` is unknown, or the file of `sslrootcert` cannot be read
 */
export function postgresOverTls(
  url: string,
  options?: postgres.Options<Record<string, never>>,
): postgres.Sql {
  const [address = '', query = ''] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const mode = parameters.get('sslmode');
  const rootCert = parameters.get('sslrootcert');
  if (mode === null && rootCert === null) return postgres(url, options);

  parameters.delete('sslmode');
  parameters.delete('sslrootcert');
  const ssl = tlsOptions({ mode, rootCert, hosts: () => client.options.host });
  const client = postgres(`${address}?${parameters}`, { ...options, ssl });
  return client;
}

interface TlsSettings {
  mode: string | null;
  rootCert: string | null;
  hosts: () => string[];
}

function tlsOptions({
  mode,
  rootCert,
  hosts,
}: TlsSettings): tls.ConnectionOptions | 'prefer' | false {
  const verifyAuthority = { ...authorities(rootCert), checkServerIdentity: () => undefined };
  const verifyHost = { ...verifyAuthority, checkServerIdentity: hostChecker(hosts) };
  // Anybody can get a certificate from a public authority, so the host name must match.
  if (rootCert === 'system') return verifyHost;
  switch (mode) {
    case 'disable':
      return false;
    case 'allow':
    case 'prefer':
      return 'prefer';
    case 'require':
      return rootCert === null ? { rejectUnauthorized: false } : verifyAuthority;
    case 'verify-ca':
      return verifyAuthority;
    case 'verify-full':
    case null:
      return verifyHost;
    default:
      throw new Error(`sslmode is ${mode}: set disable, prefer, require, verify-ca or verify-full`);
  }
}

function authorities(rootCert: string | null): { ca?: string | string[] } {
  if (rootCert === null) return {};
  if (rootCert === 'system') return { ca: tls.getCACertificates('system') };
  try {
    return { ca: readFileSync(rootCert, 'utf8') };
  } catch (cause) {
    throw new Error(`sslrootcert is ${rootCert}, a file that cannot be read: set a PEM file`, {
      cause,
    });
  }
}

/** postgres.js passes no name for an IP address, and Node then checks for "localhost". */
function hostChecker(hosts: () => string[]): typeof tls.checkServerIdentity {
  return (name, certificate) => {
    const candidates = hosts().includes(name) ? [name] : hosts().filter((host) => isIP(host));
    const errors = candidates.map((host) => tls.checkServerIdentity(host, certificate));
    return errors.includes(undefined)
      ? undefined
      : (errors[0] ?? new Error(`the certificate is not for ${name}`));
  };
}
