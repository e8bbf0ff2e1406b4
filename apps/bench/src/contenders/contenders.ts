import { fileURLToPath } from 'node:url';
import {
  type ReadFormats,
  type RequestFormat,
  rest,
  restReads,
  trpc,
  trpcBatch,
  trpcReads,
} from '../load/request-format.ts';

/** A program to measure: our server, a peer, or a program that shows the upper limit. */
export interface Contender {
  /** The contender's name for the option `--only`. */
  readonly name: string;
  readonly title: string;
  /** Undefined for pgbench, which needs no server. */
  readonly server?: Server;
}

export interface Server {
  readonly program: string;
  readonly env: Record<string, string>;
  /** The format of the requests that create plants. */
  readonly format: RequestFormat;
  /** The formats of the requests that read plants, or undefined if the benchmark measures no reads. */
  readonly reads?: ReadFormats | undefined;
  /** Whether the program stores plants. If true, the benchmark counts the stored plants after a load. */
  readonly storesPlants: boolean;
  /** Whether the program accepts every int64 as an id. If false, the load has only ids below 2^53. */
  readonly takesInt64: boolean;
}

export const oursRest = ours('ours-rest', 'ours, REST', rest, restReads);
export const oursTrpc = ours('ours-trpc', 'ours, tRPC', trpc, trpcReads);
export const oursTrpcBatch = ours('ours-trpc-10', 'ours, tRPC, batches of 10', trpcBatch);

const handWritten = 'Fastify + raw postgres.js';
export const fastifyPostgres = peer('fastify-postgres', handWritten, rest, restReads);

const plugin = "trpc-to-openapi's plugin + Drizzle";
export const trpcToOpenapi = peer('trpc-to-openapi', plugin, rest, restReads);
export const trpcFastify = peer('trpc-fastify', "tRPC's Fastify plugin + Drizzle", trpc);

export const peersWithDrizzle = [
  peer('fastify-zod', 'Fastify + type-provider-zod + Drizzle', rest),
  peer('hono', 'Hono + zod-validator + Drizzle', rest),
  peer('orpc', 'oRPC OpenAPI handler + Drizzle', rest, restReads),
  trpcFastify,
  trpcToOpenapi,
];

const bareServer = peer('node-http', 'limit: node:http, no database', rest);
export const nodeHttp = {
  ...bareServer,
  server: { ...bareServer.server, storesPlants: false, takesInt64: true },
};

export const pgbench: Contender = { name: 'pgbench', title: 'limit: pgbench, prepared insert' };

export const contenders: readonly Contender[] = [
  ...[oursRest, oursTrpc, oursTrpcBatch],
  ...[fastifyPostgres, ...peersWithDrizzle],
  ...[nodeHttp, pgbench],
];

/** Our server, with the options of `pnpm start` and of the files in `deploy`. */
function ours(name: string, title: string, format: RequestFormat, reads?: ReadFormats) {
  const program = pathOf('../../../api/bin/server.js');
  const env = { NODE_OPTIONS: '--max-semi-space-size=8' };
  const server = { program, env, format, reads, storesPlants: true, takesInt64: true };
  return { name, title, server };
}

/** `NODE_ENV` turns on the production mode of the peers. The peers' JSON parsers round ids beyond 2^53. */
function peer(name: string, title: string, format: RequestFormat, reads?: ReadFormats) {
  const env = { NODE_ENV: 'production' };
  const program = pathOf(`./peers/${name}.ts`);
  const server = { program, env, format, reads, storesPlants: true, takesInt64: false };
  return { name, title, server };
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
