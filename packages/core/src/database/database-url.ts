/** The form of a database URL, for messages. */
export const databaseUrlSyntax = 'postgres://user:password@host:port/database';

/** The parts of a database URL. For missing parts, the driver uses its defaults. */
export interface DatabaseAddress {
  /**
   * The hosts, in the order in which the driver tries them. A host that starts with `/` is the directory of a
   * Unix domain socket.
   */
  readonly hosts: readonly { readonly host?: string; readonly port?: number }[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** The parameters that are not a part of the address: `sslmode` and session settings. */
  readonly parameters: ReadonlyMap<string, string>;
}

/**
 * Parses the URL of a Postgres as libpq does (PostgreSQL's manual, "Connection URIs"). The URL may name
 * several hosts. The parameters `host`, `port`, `user`, `password` and `dbname` can replace the other parts
 * of the URL. An example is `postgres:///plants?host=/run/postgresql`.
 *
 * @throws Error with a message that contains no part of the password
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const [, text] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(url) ?? [];
  if (text === undefined) throw new Error('it does not start with postgres://');
  if (text === '') throw new Error('it has nothing after postgres://');
  const [address, query] = splitAt(text, text.indexOf('?'));
  const [authority, path] = splitAt(address, address.indexOf('/'));
  checkEncoding({ text, path, query });
  const [credentials, hostList] = splitAt(`@${authority}`, authority.lastIndexOf('@') + 1);
  const [user, password] = splitAt(credentials.slice(1), credentials.indexOf(':') - 1);

  const parameters = new Map(
    [...new URLSearchParams(query.replaceAll('+', '%2B'))].filter(([, value]) => value !== ''),
  );
  const take = (name: string) => {
    const value = parameters.get(name);
    parameters.delete(name);
    return value;
  };
  const [hosts, ports] = [take('host')?.split(','), take('port')?.split(',')];
  const inAuthority = parseHosts(hostList, authority.includes('@'));
  const names = hosts ?? inAuthority.map(({ host }) => host);
  return {
    hosts: names.map((host, i) => {
      const port = ports ? parsePort(ports[i] ?? ports[0], true) : inAuthority[i]?.port;
      return { ...(host && { host }), ...(port !== undefined && { port }) };
    }),
    user: take('user') ?? decode(user),
    password: take('password') ?? decode(password),
    database: take('dbname') ?? decode(path),
    parameters,
  };
}

export function isDatabaseUrl(text: string): boolean {
  try {
    parseDatabaseUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** Names the hosts and the database of a URL, without user, password and parameters. */
export function describeDatabaseUrl(url: string): string {
  const { hosts, database = '' } = parseDatabaseUrl(url);
  const names = hosts.map(({ host = '', port }) => {
    const name = host.includes(':') ? `[${host}]` : host;
    return port === undefined ? name : `${name}:${port}`;
  });
  return `${names.join(',')}/${database}`;
}

/** Removes the password and the parameter `password` from a URL, so that the URL may be shown. */
export function withoutPassword(url: string): string {
  const [address, query] = splitAt(url, url.indexOf('?'));
  const shown = address.replace(/^(\w+:\/\/[^:/]*):[^/]*@/, '$1@');
  const parameters = query.split('&').filter((each) => !new URLSearchParams(each).has('password'));
  return [shown, parameters.join('&')].filter(Boolean).join('?');
}

/** Rejects unencoded special characters: they can make a part of a password look like a host or a path. */
function checkEncoding({ text, path, query }: { text: string; path: string; query: string }): void {
  const isCut =
    text.includes('#') ||
    path.includes('@') ||
    query.split('&').some((part) => part.includes('@') && !part.includes('='));
  if (!isCut) return;
  throw new Error(
    'a user name or a password with the characters / ? # % or @ must be percent-encoded: ' +
      'write %2F for /, %3F for ?, %23 for #, %25 for % and %40 for @',
  );
}

function parseHosts(list: string, isAfterUser: boolean) {
  return list.split(',').map((each) => {
    const [, ipv6, name, port] = /^(?:\[([^\]]+)\]|([^:[\]]*))(?::(.*))?$/s.exec(each) ?? [];
    if (ipv6 === undefined && name === undefined) {
      throw new Error(
        'a host is neither a name nor an address: write [::1] for the IPv6 address ::1',
      );
    }
    return { host: decode(ipv6 ?? name ?? ''), port: parsePort(port, isAfterUser) };
  });
}

/** @param isPort false if the text may be a part of a password: the error then does not quote the text */
function parsePort(text: string | undefined, isPort: boolean): number | undefined {
  if (!text) return undefined;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new Error(`the port${isPort ? ` ${text}` : ''} is not a number from 1 to 65535`);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text) || undefined;
  } catch {
    throw new Error('it has a % that is not followed by two hexadecimal digits: write %25 for %');
  }
}

/** Splits a text at an index, and drops the character there. For the index -1, the second part is empty. */
function splitAt(text: string, index: number): [string, string] {
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}
