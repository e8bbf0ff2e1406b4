import { once } from 'node:events';
import type { Server } from 'node:http';

/** The settings that the benchmark passes to each contender. */
export const {
  DATABASE_URL: databaseUrl = '',
  PLANT_STORE_TOKEN: accessToken = '',
  PORT = '0',
} = process.env;

export const address = { host: '127.0.0.1', port: Number(PORT) };

/** Starts a server of `node:http`, and prints its URL. */
export async function listen(server: Server): Promise<void> {
  await once(server.listen(address.port, address.host), 'listening');
  const bound = server.address();
  console.log(`http://${address.host}:${typeof bound === 'object' && bound?.port}`);
}
