import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import {
  explainUrl,
  findAddresses,
  isPublic,
  isWebhookTarget,
  parseAllowed,
} from '../../src/webhooks/addresses.ts';
import { post } from '../../src/webhooks/post.ts';
import { listen } from '../fixtures/listen.ts';

const nothing = parseAllowed([]);
const send = (url: string, allow: string[], signal?: AbortSignal) =>
  post(url, '{}', () => ({}), { allowed: parseAllowed(allow), signal });

/** Private addresses that an attacker may write into a URL or into a DNS record. */
const hidden = [
  ...['0.0.0.0', '10.0.0.1', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.1.2.3'],
  ...['168.63.129.16', '169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.192'],
  ...['192.0.2.1', '192.88.99.1', '192.168.1.1', '198.18.0.1', '198.51.100.1', '203.0.113.1'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1'],
  ...['::ffff:a00:1', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1', '100::1'],
  ...['2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1', 'fc00::1', 'fd00:ec2::254'],
  ...['fe80::1', 'fec0::1', 'ff02::1'],
];

it.each(hidden)('does not send to the address %s', (address) => {
  expect(isPublic(address)).toBe(false);
  const url = address.includes(':') ? `https://[${address}]/` : `https://${address}/`;
  expect(explainUrl(url, nothing)).toContain('is not public');
});

it.each(['1.1.1.1', '8.8.8.8', '172.32.0.1', '2606:4700::1111', '2a00::1'])(
  'may send to the address %s',
  (address) => expect(isPublic(address)).toBe(true),
);

it.each([
  ...['https://0x7f.1/', 'https://2130706433/', 'https://017700000001/', 'https://127.1/'],
  ...['https://１２７.０.０.１/', 'https://127.0.0.1./', 'https://[::ffff:7f00:1]:443/'],
  ...['http://partner.example/', 'file:///etc/passwd', 'gopher://127.0.0.1/', 'javascript:1'],
  ...['https://user@partner.example/', 'https://127.0.0.1:80\\@partner.example/', 'partner'],
])('rejects the URL %s', (url) => {
  expect(explainUrl(url, nothing)).toBeDefined();
});

/** Starts a server on 127.0.0.1 that counts its connections. */
async function startTarget() {
  const target = { port: 0, connections: 0 };
  const server = createServer((_, response) => response.end());
  server.on('connection', () => {
    target.connections += 1;
  });
  target.port = await listen(server);
  return target;
}

it.each(['localhost', 'localhost.', '127.0.0.1', '[::ffff:127.0.0.1]', '0'])(
  'does not connect to the host %s, which is on this machine',
  async (host) => {
    const target = await startTarget();
    for (const scheme of ['https', 'http']) {
      const url = `${scheme}://${host}:${target.port}/`;
      expect((await send(url, [])).error).toMatch(/is not public|must begin with https/);
    }
    expect(target.connections).toBe(0);
  },
);

it('connects to the hosts and networks that the operator allows, even over http', async () => {
  const { port } = await startTarget();
  for (const allow of ['127.0.0.0/8', '127.0.0.1']) {
    expect(await send(`http://127.0.0.1:${port}/`, [allow])).toMatchObject({ status: 200 });
  }
  for (const host of ['127.0.0.1', 'localhost']) {
    const { error } = await send(`http://${host}:${port}/`, ['10.0.0.0/8']);
    expect(error).toContain('is not public');
  }
  await expect(
    findAddresses(new URL('http://localhost/'), parseAllowed(['localhost'])),
  ).resolves.not.toEqual([]);
});

it.each(['partner.internal', '10.0.0.0/8', '10.0.0.1', 'fd00::/8', '::1'])(
  'accepts %s as an allowed host or network',
  (text) => expect(isWebhookTarget(text)).toBe(true),
);

it.each(['', '*', '10.0.0.0/33', '10.0.0.0/8/8', 'http://partner', 'partner:80', '300.0.0.1'])(
  'rejects %j as an allowed host or network',
  (text) => expect(isWebhookTarget(text)).toBe(false),
);

it('reads at most 1 KiB of a response', async () => {
  const server = createServer((_, response) => {
    response.writeHead(500);
    const send = () => {
      if (!response.destroyed) response.write('x'.repeat(100), send);
    };
    send();
  });
  const url = `http://127.0.0.1:${await listen(server)}/`;
  expect((await send(url, ['127.0.0.1'])).error).toBe(`status 500 ${'x'.repeat(1024)}`);
});

it('ends an attempt when the endpoint responds with status 101 and the signal is aborted', async () => {
  const closed = Promise.withResolvers<void>();
  const server = createServer((_, { socket }) => {
    socket?.once('close', () => closed.resolve());
    socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n');
  });
  const controller = new AbortController();
  const url = `http://127.0.0.1:${await listen(server)}/`;
  const attempt = send(url, ['127.0.0.1'], controller.signal);
  await closed.promise;
  controller.abort(new Error('the store closes'));
  await expect(attempt).rejects.toThrow('the store closes');
});

it('does not use the proxy that the environment variables set', async () => {
  const [target, proxy] = [await startTarget(), await startTarget()];
  const room = new URL('../../src/webhooks/', import.meta.url);
  const program = `
    const { post } = await import('${new URL('post.ts', room)}');
    const { parseAllowed } = await import('${new URL('addresses.ts', room)}');
    const allowed = parseAllowed(['127.0.0.1']);
    const { status } = await post('http://127.0.0.1:${target.port}/', '{}', () => ({}), { allowed });
    process.stdout.write(String(status));`;
  const proxyUrl = `http://127.0.0.1:${proxy.port}`;
  const env = { HTTP_PROXY: proxyUrl, http_proxy: proxyUrl, NODE_USE_ENV_PROXY: '1' };
  const args = ['--input-type=module', '--eval', program];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toBe('200');
  expect(proxy.connections).toBe(0);
});
