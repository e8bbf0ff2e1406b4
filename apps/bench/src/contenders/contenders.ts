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

/** A program to measure: our server, a peer, or a limit that no server can exceed. */
export interface Contender {
  /** Its name for `--only`. */
  readonly name: string;
  readonly title: string;
  readonly role: 'ours' | 'drizzle' | 'hand-written' | 'limit';
  /** pgbench has no server. */
  readonly server?: Server;
}

export interface Server {
  /** The path of the program. */
  readonly program: string;
  readonly env: Record<string, string>;
  /** The requests that create plants. */
  readonly format: RequestFormat;
  /** Undefined for a program that cannot read plants, or whose reads another contender has. */
  readonly reads?: ReadFormats;
  /** Whether plants answered with 200 must be in the table. */
  readonly storesPlants: boolean;
  /** Whether it takes every int64 as id. Other servers get ids below 2^53. */
  readonly takesInt64: boolean;
}

export const oursRest = {
  name: 'ours-rest',
  title: 'ours, REST',
  role: 'ours',
  server: ours(rest, restReads),
} as const satisfies Contender;

export const oursTrpc = {
  name: 'ours-trpc',
  title: 'ours, tRPC',
  role: 'ours',
  server: ours(trpc, trpcReads),
} as const satisfies Contender;

export const oursTrpcBatch = {
  name: 'ours-trpc-10',
  title: 'ours, tRPC, batches of 10',
  role: 'ours',
  server: ours(trpcBatch),
} as const satisfies Contender;

export const fastifyPostgres = {
  name: 'fastify-postgres',
  title: 'Fastify + raw postgres.js',
  role: 'hand-written',
  server: peer('fastify-postgres', rest, restReads),
} as const satisfies Contender;

export const trpcToOpenapi = drizzle(
  'trpc-to-openapi',
  "trpc-to-openapi's plugin + Drizzle",
  rest,
  restReads,
);

export const nodeHttp = {
  name: 'node-http',
  title: 'limit: node:http, no database',
  role: 'limit',
  server: { ...peer('node-http', rest), storesPlants: false, takesInt64: true },
} as const satisfies Contender;

export const pgbench = {
  name: 'pgbench',
  title: 'limit: pgbench, prepared insert',
  role: 'limit',
} as const satisfies Contender;

export const contenders: readonly Contender[] = [
  oursRest,
  oursTrpc,
  oursTrpcBatch,
  fastifyPostgres,
  drizzle('fastify-zod', 'Fastify + type-provider-zod + Drizzle', rest),
  drizzle('hono', 'Hono + zod-validator + Drizzle', rest),
  drizzle('orpc', 'oRPC OpenAPI handler + Drizzle', rest, restReads),
  drizzle('trpc-fastify', "tRPC's Fastify plugin + Drizzle", trpc),
  trpcToOpenapi,
  nodeHttp,
  pgbench,
];

/** Our server as it is shipped. */
function ours(format: RequestFormat, reads?: ReadFormats): Server {
  const program = pathOf('../../../api/bin/server.js');
  return {
    program,
    env: {},
    format,
    ...(reads && { reads }),
    storesPlants: true,
    takesInt64: true,
  };
}

/**
 * A peer's server. Node's frameworks ask for `NODE_ENV=production` in production. The peers' JSON
 * parsers round ids beyond 2^53.
 */
function peer(name: string, format: RequestFormat, reads?: ReadFormats): Server {
  const env = { NODE_ENV: 'production' };
  const program = pathOf(`./peers/${name}.ts`);
  return {
    program,
    env,
    format,
    ...(reads && { reads }),
    storesPlants: true,
    takesInt64: false,
  };
}

function drizzle(
  name: string,
  title: string,
  format: RequestFormat,
  reads?: ReadFormats,
): Contender {
  return { name, title, role: 'drizzle', server: peer(name, format, reads) };
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
