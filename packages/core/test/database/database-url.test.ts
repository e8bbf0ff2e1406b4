import { expect, it } from 'vitest';
import {
  describeDatabaseUrl,
  parseDatabaseUrl,
  withoutPassword,
} from '../../src/database/database-url.ts';

it.each([
  ['postgres://u:p@h:1/d', { user: 'u', password: 'p', hosts: [{ host: 'h', port: 1 }] }],
  ['postgresql://h/d', { user: undefined, hosts: [{ host: 'h' }] }],
  ['postgres://u:a%40b%2Fc@h/d', { password: 'a@b/c' }],
  ['postgres://u:a@b:c@h/d', { password: 'a@b:c', hosts: [{ host: 'h' }] }],
  ['postgres://a,b:2/d', { hosts: [{ host: 'a' }, { host: 'b', port: 2 }] }],
  [
    'postgres://[::1]:2,127.0.0.1:3/d',
    {
      hosts: [
        { host: '::1', port: 2 },
        { host: '127.0.0.1', port: 3 },
      ],
    },
  ],
  ['postgres:///d?host=/run/postgresql', { hosts: [{ host: '/run/postgresql' }], database: 'd' }],
  [
    'postgres://u@/d?host=%2Frun&port=5433',
    { user: 'u', hosts: [{ host: '/run', port: 5433 }], database: 'd' },
  ],
  ['postgres://u@%2Frun:2/d', { hosts: [{ host: '/run', port: 2 }] }],
  ['postgres:///?host=a,b&port=1,2&user=u&password=p%26q&dbname=d', { password: 'p&q' }],
  ['postgres:///d', { hosts: [{}], database: 'd' }],
])('parses %s as libpq does', (url, expected) => {
  expect(parseDatabaseUrl(url)).toMatchObject(expected);
});

const encoding = 'must be percent-encoded: write %2F for /';

it.each([
  ['mysql://h/d', 'it does not start with postgres://'],
  ['postgres://', 'it has nothing after postgres://'],
  ['postgres://u:secret/x@h/d', encoding],
  ['postgres://u:secret#x@h/d', encoding],
  ['postgres://u:12?secret@h/d', encoding],
  ['postgres://u:secret%@h/d', 'it has a % that is not followed by two hexadecimal digits'],
  ['postgres://u@h:65536/d', 'the port 65536 is not a number from 1 to 65535'],
  ['postgres://u@h:0/d', 'the port 0 is not a number from 1 to 65535'],
  ['postgres:///d?host=h&port=x', 'the port x is not a number from 1 to 65535'],
  ['postgres://u:secret', 'the port is not a number from 1 to 65535'],
  ['postgres://u@[::1/d', 'write [::1] for the IPv6 address ::1'],
])('explains the mistake in %s without the password', (url, message) => {
  expect(() => parseDatabaseUrl(url)).toThrow(message);
  expect(() => parseDatabaseUrl(url)).not.toThrow('secret');
});

it('describes a database by hosts and name, without user, password and parameters', () => {
  const url = 'postgres://u:secret@h:1,[::1]/d?application_name=x';
  expect(describeDatabaseUrl(url)).toBe('h:1,[::1]/d');
});

it.each([
  ['postgres://u:secret@h:1/d', 'postgres://u@h:1/d'],
  ['postgres://u:se@cr:et@h/d?sslmode=require', 'postgres://u@h/d?sslmode=require'],
  ['postgres://:secret@h/d', 'postgres://@h/d'],
  ['postgres://u@h:1/d', 'postgres://u@h:1/d'],
  ['postgres://a:1,b:2/d', 'postgres://a:1,b:2/d'],
  ['postgres:///d?user=u&password=secret&host=/run', 'postgres:///d?user=u&host=/run'],
  ['postgres://u@h/d?%70assword=secret', 'postgres://u@h/d'],
])('shows %s without the password', (url, shown) => {
  expect(withoutPassword(url)).toBe(shown);
  expect(parseDatabaseUrl(shown)).toEqual({ ...parseDatabaseUrl(url), password: undefined });
});
