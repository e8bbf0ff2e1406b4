import { fileURLToPath } from 'node:url';
import { rest, trpc, trpcBatch, type Wire } from './wire.ts';

/** A program that is measured: a server of ours or of a peer, or a limit that no server gets past. */
export interface Contender {
  /** What `--only` knows it by. */
  readonly name: string;
  readonly title: string;
  readonly role: 'ours' | 'drizzle' | 'by hand' | 'limit';
  /** Its server, and what it is sent; pgbench has none. */
  readonly server?: Server;
}

export interface Server {
  /** The path of its program. */
  readonly program: string;
  readonly env: Record<string, string>;
  readonly wire: Wire;
  /** Whether what it answers with 200 must be in the table. */
  readonly stores: boolean;
}

export const oursRest = {
  name: 'ours-rest',
  title: 'ours, REST',
  role: 'ours',
  server: ours(rest),
} as const satisfies Contender;

export const byHand = {
  name: 'fastify-postgres',
  title: 'Fastify + raw postgres.js',
  role: 'by hand',
  server: peer('fastify-postgres', rest),
} as const satisfies Contender;

export const nodeHttp = {
  name: 'node-http',
  title: 'limit: node:http, no database',
  role: 'limit',
  server: { ...peer('node-http', rest), stores: false },
} as const satisfies Contender;

export const pgbench = {
  name: 'pgbench',
  title: 'limit: pgbench, prepared insert',
  role: 'limit',
} as const satisfies Contender;

export const contenders: readonly Contender[] = [
  oursRest,
  { name: 'ours-trpc', title: 'ours, tRPC', role: 'ours', server: ours(trpc) },
  {
    name: 'ours-trpc-10',
    title: 'ours, tRPC, batches of 10',
    role: 'ours',
    server: ours(trpcBatch),
  },
  byHand,
  drizzle('fastify-zod', 'Fastify + type-provider-zod + Drizzle', rest),
  drizzle('hono', 'Hono + zod-validator + Drizzle', rest),
  drizzle('orpc', 'oRPC OpenAPI handler + Drizzle', rest),
  drizzle('trpc-fastify', "tRPC's Fastify plugin + Drizzle", trpc),
  drizzle('trpc-to-openapi', "trpc-to-openapi's plugin + Drizzle", rest),
  nodeHttp,
  pgbench,
];

/** Our own program as it is shipped. */
function ours(wire: Wire): Server {
  return { program: pathOf('../../api/src/main.ts'), env: {}, wire, stores: true };
}

/** A peer's, in production as the documentation of Node's frameworks asks for. */
function peer(name: string, wire: Wire): Server {
  const env = { NODE_ENV: 'production' };
  return { program: pathOf(`./contenders/${name}.ts`), env, wire, stores: true };
}

function drizzle(name: string, title: string, wire: Wire): Contender {
  return { name, title, role: 'drizzle', server: peer(name, wire) };
}

function pathOf(relative: string): string {
  return fileURLToPath(new URL(relative, import.meta.url));
}
