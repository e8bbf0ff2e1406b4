import { expect, it } from 'vitest';
import { shareStore } from '../fixtures/running-server.ts';

const startOnStore = shareStore();

/** Sends a request for each client through a proxy. Returns the statuses, and the addresses in the log. */
async function sendFor(clients: string[], url: string, trustProxy: string[]) {
  const authenticate = () => undefined;
  const server = await startOnStore({ authenticate, trustProxy, authFailureLimit: 1 });
  const statuses: number[] = [];
  for (const client of clients) {
    const headers = { 'x-forwarded-for': client };
    statuses.push((await server.inject({ method: 'POST', url, headers })).statusCode);
  }
  await server.stop();
  return { statuses, ips: server.log.map((line) => JSON.parse(line).ip).filter(Boolean) };
}

const clients = ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.3, 192.0.2.1'];

it.each(['/plants', '/trpc/createPlant'])(
  'applies the rate limit at %s to the client address from a trusted proxy, and ignores other proxies',
  async (path) => {
    expect(await sendFor(clients, path, ['10.0.0.0/8', '127.0.0.1'])).toEqual({
      statuses: [401, 429, 401, 429],
      ips: ['192.0.2.1', '192.0.2.1', '192.0.2.2', '192.0.2.1'],
    });
    for (const trusted of [['10.0.0.0/8'], []]) {
      expect(await sendFor(clients, path, trusted)).toEqual({
        statuses: [401, 429, 429, 429],
        ips: Array(4).fill('127.0.0.1'),
      });
    }
  },
);

it('applies the rate limit to an address, and ignores the port that a proxy adds to the address', async () => {
  const withPorts = [
    ...['192.0.2.1:50001', '192.0.2.1:50002', '192.0.2.1', '192.0.2.2:50001'],
    ...['[2001:db8::1]:50001', '[2001:db8::2]', '2001:db8::3', '2001:db9::1'],
  ];
  const { statuses } = await sendFor(withPorts, '/plants', ['127.0.0.1']);
  expect(statuses).toEqual([401, 429, 429, 401, 401, 429, 429, 401]);
});
