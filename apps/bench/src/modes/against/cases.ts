import { type Contender, oursRest, oursTrpc, oursTrpcBatch } from '../../contenders/contenders.ts';
import type { IdOrder } from '../../load/load.ts';

/** A kind of create by which two commits are compared. */
export interface Case {
  readonly title: string;
  readonly server: NonNullable<Contender['server']>;
  readonly order: IdOrder;
  readonly isEmbedded?: boolean;
}

export const cases = {
  rest: { title: 'REST', server: oursRest.server, order: 'int64' },
  'rest-small': { title: 'REST, small ids', server: oursRest.server, order: 'sequential' },
  trpc: { title: 'tRPC', server: oursTrpc.server, order: 'int64' },
  'trpc-small': { title: 'tRPC, small ids', server: oursTrpc.server, order: 'sequential' },
  'trpc-10': { title: 'tRPC, batches of 10', server: oursTrpcBatch.server, order: 'int64' },
  embedded: {
    title: 'REST, embedded database',
    server: oursRest.server,
    order: 'int64',
    isEmbedded: true,
  },
} satisfies Record<string, Case>;

export type CaseName = keyof typeof cases;

export const caseNames = Object.keys(cases) as CaseName[]; // `cases` has no other keys.

export const defaultCases: readonly CaseName[] = ['rest', 'rest-small', 'trpc', 'trpc-10'];
