import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import * as tls from 'node:tls';
import postgres from 'postgres';

/**
 * A postgres.js client over the TLS that `sslmode` and `sslrootcert` in its URL ask for, as libpq
 * means them (PostgreSQL's manual, "SSL Support"). postgres.js by itself knows no `verify-ca`, takes
 * `sslrootcert` for a setting of the server, and holds the certificate of an IP address against the
 * name "localhost".
 *
 * Without `sslmode` there is no TLS; without `sslrootcert` it trusts whom Node trusts.
 *
 * @throws Error when there is no such `sslmode`, or the file of `sslrootcert` cannot be read.
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
  const ssl = tlsFor({ mode, rootCert, hosts: () => client.options.host });
  const client = postgres(`${address}?${parameters}`, { ...options, ssl });
  return client;
}

interface Wanted {
  mode: string | null;
  rootCert: string | null;
  hosts: () => string[];
}

function tlsFor({ mode, rootCert, hosts }: Wanted): tls.ConnectionOptions | 'prefer' | false {
  const ofAuthority = { ...trusted(rootCert), checkServerIdentity: () => undefined };
  const ofHost = { ...ofAuthority, checkServerIdentity: hostChecker(hosts) };
  // Anybody can have a certificate from one of the system's authorities.
  if (rootCert === 'system') return ofHost;
  switch (mode) {
    case 'disable':
      return false;
    case 'allow':
    case 'prefer':
      return 'prefer';
    case 'require':
      return rootCert === null ? { rejectUnauthorized: false } : ofAuthority;
    case 'verify-ca':
      return ofAuthority;
    case 'verify-full':
    case null:
      return ofHost;
    default:
      throw new Error(`sslmode is ${mode}: set disable, prefer, require, verify-ca or verify-full`);
  }
}

function trusted(rootCert: string | null): { ca?: string | string[] } {
  if (rootCert === null) return {};
  if (rootCert === 'system') return { ca: tls.getCACertificates('system') };
  try {
    return { ca: readFileSync(rootCert, 'utf8') };
  } catch (cause) {
    throw new Error(`sslrootcert is ${rootCert}, which cannot be read: set a file in PEM`, {
      cause,
    });
  }
}

/** For an IP address postgres.js gives Node no name to check, and Node then takes "localhost". */
function hostChecker(hosts: () => string[]): typeof tls.checkServerIdentity {
  return (name, certificate) => {
    const candidates = hosts().includes(name) ? [name] : hosts().filter((host) => isIP(host));
    const errors = candidates.map((host) => tls.checkServerIdentity(host, certificate));
    return errors.includes(undefined) ? undefined : (errors[0] ?? new Error(`not for ${name}`));
  };
}
