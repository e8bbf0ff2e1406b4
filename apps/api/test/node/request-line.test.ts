import { expect, it } from 'vitest';
import { requestLineIn } from '../../src/connections/request-line.ts';

/**
 * Finds the request line in a packet. A `|` in the packet marks the byte at which Node's parser has stopped.
 */
const lineIn = (packet: string) =>
  requestLineIn(Buffer.from(packet.replace('|', ''), 'latin1'), packet.indexOf('|'));

it.each([
  ['B|REW /plants HTTP/1.1\r\n\r\n', 'BREW'],
  ['|get / HTTP/1.0\r\n', 'get'],
  ['GET|X * HTTP/1.1\n', 'GETX'],
  ['DESCRIBE / HTTP|/1.1\r\n\r\n', 'DESCRIBE'],
  ["A|!#$%&'*+-.^_`|~9 / HTTP/1.1\r\n", "A!#$%&'*+-.^_`|~9"],
  ['GET / HTTP/1.1\r\nHost: x\r\n\r\nB|REW / HTTP/1.1\r\n', 'BREW'],
  ['POST / HTTP/1.1\r\n\r\n{"id":1}B|REW / HTTP/1.1\r\n', 'BREW'],
])('finds the method of a complete request line in %j', (packet, method) => {
  expect(lineIn(packet)).toMatchObject({ method, isComplete: true });
});

it.each([
  '|',
  '|hello\r\n\r\n',
  '|{"id":1}\r\nPOST / HTTP/1.1\r\n',
  '|\x16\x03\x01 / HTTP/1.1\r\n',
  '| BREW / HTTP/1.1\r\n',
  'B|REW  / HTTP/1.1\r\n',
  'B|REW /\r\n',
  'B|REW / HTTP/2.0\r\n',
  'B|REW / HTTP/1.1',
  'B|REW\0 / HTTP/1.1\r\n',
  'B|REW /\x01 HTTP/1.1\r\n',
])('finds no complete request line in %j', (packet) => {
  expect(lineIn(packet)?.isComplete ?? false).toBe(false);
});

it.each([
  ['GET /trpc/getPlant?input=aa|aa', 'GET', '/trpc/'],
  ['HEAD /plants?tag=a|', 'HEAD', '/plants'],
  ['POST /trpc HTTP/1.1\r\nHost: x\r\nA b|: c\r\n', 'POST', '/trpc'],
  ['GET http://x:1/trpc/a HTTP/1.1\r\nA: b|', 'GET', '/trpc/'],
  ['GET / HTTP/1.1\r\n\r\nB|REW /trpc/x HTTP/1.1\r\n', 'BREW', '/trpc/'],
  ['GET /trpc/ HTTP/1.1\r\n\r\nGET /plants?|a', 'GET', '/plants'],
])('finds the start of the request line in %j', (packet, method, url) => {
  expect(lineIn(packet)).toMatchObject({ method, url });
});

it.each(['aaaa|aaaa', 'Host: /x\r\n|', '\x16\x03|\x01 /trpc', ''])(
  'finds no request line in %j',
  (packet) => {
    expect(lineIn(packet)).toBeUndefined();
  },
);
