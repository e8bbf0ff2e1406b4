import { fileURLToPath } from 'node:url';
import { type RequestKind, rest, trpc } from './load.ts';
import { type Program, programOf } from './server.ts';

/** A server, and the load that the benchmark sends to the server. */
export interface Contender {
  readonly name: string;
  readonly program: Program;
  readonly kind: RequestKind;
  /** Whether the ids are 1, 2, 3 and so on: the JSON parsers of the peers round ids beyond 2^53. */
  readonly smallIds?: boolean;
  readonly database?: 'postgres' | 'embedded' | 'none';
  /** The number of clients that follow the feed of changes. */
  readonly followers?: number;
}

/** Contenders that get requests for the same operation. The table shows ratios to the first contender. */
export interface Case {
  readonly name: string;
  readonly contenders: readonly Contender[];
}

const peers = {
  'Fastify + raw postgres.js': 'fastify-postgres',
  'Fastify + zod + Drizzle': 'fastify-drizzle',
  'oRPC + Drizzle': 'orpc',
  "trpc-to-openapi's plugin + Drizzle": 'trpc-to-openapi',
};

/** The cases that compare the store with its peers. */
export async function peerCases(): Promise<Case[]> {
  const program = await programOf();
  const all = (name: string, kind: RequestKind, more: Omit<Contender, 'program'>[] = []) => {
    const others = Object.entries(peers).map(([title, file]) => peer(title, file, kind));
    const ours = [{ name: 'ours', kind }, ...more].map((each) => ({ ...each, program }));
    return { name, contenders: [...others, ...ours, nodeHttp(kind)] };
  };
  const followed = { name: 'ours, 100 followers', kind: rest.create, followers: 100 };
  return [
    all('create', rest.create, [{ name: 'ours, tRPC', kind: trpc.create }, followed]),
    all('batch', rest.batch),
    all('list', rest.list, [{ name: 'ours, tRPC', kind: trpc.list }]),
    all('long-list', rest.longList),
    all('get', rest.get),
  ];
}

const againstKinds: Record<string, Pick<Contender, 'kind' | 'smallIds' | 'database'>> = {
  rest: { kind: rest.create },
  'rest-small': { kind: rest.create, smallIds: true },
  trpc: { kind: trpc.create },
  'trpc-10': { kind: trpc.creates },
  embedded: { kind: rest.create, database: 'embedded' },
  batch: { kind: rest.batch },
  list: { kind: rest.list },
  get: { kind: rest.get },
};

/** The cases that compare the working tree with a checkout of a commit. */
export async function againstCases(checkout?: string): Promise<Case[]> {
  const [before, now] = [await programOf(checkout), await programOf()];
  return Object.entries(againstKinds).map(([name, kind]) => ({
    name,
    contenders: [
      { name: 'before', program: before, ...kind },
      { name: 'now', program: now, ...kind },
      ...(name === 'rest' ? [nodeHttp(kind.kind)] : []),
    ],
  }));
}

function peer(name: string, file: string, kind: RequestKind): Contender {
  const path = fileURLToPath(new URL(`./peers/${file}.ts`, import.meta.url));
  return { name, program: { flags: [], file: path }, kind, smallIds: true };
}

/** Returns a server without a database, which shows the lowest CPU time in Node. */
function nodeHttp(kind: RequestKind): Contender {
  return { ...peer('node:http', 'node-http', kind), database: 'none' };
}

/** A case, a contender, a base, and the largest accepted ratio of their CPU times, Postgres included. */
export const bounds = [
  ['create', 'ours', 'Fastify + raw postgres.js', 0.5],
  ['list', 'ours', 'Fastify + raw postgres.js', 0.7],
  ['get', 'ours', 'Fastify + raw postgres.js', 0.65],
  ['list', 'ours, tRPC', 'ours', 1.15],
] as const;
