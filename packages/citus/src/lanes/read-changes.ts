import { setTimeout } from 'node:timers/promises';
import {
  type ChangePage,
  type Cursor,
  type CursorPart,
  checkCursor,
  databaseCode,
  databaseUnavailable,
  lastId,
  maxPageBytes,
  noFeedOnCluster,
  PlantStoreError,
  type Position,
  type ReadOptions,
  reservePage,
} from '@plant-store/core/cluster';
import { callFeed, forgetStep, logOf, nameOf } from '../shards/feed-functions.ts';
import type { ShardMap, StorageNode } from '../shards/shard-map.ts';
import type { ShardWatch } from '../shards/watch-shards.ts';
import type { NodeAccess } from './node-access.ts';

interface NodeFeedOptions {
  readonly shards: Pick<ShardWatch, 'current' | 'refresh'>;
  /** Whether the store was tested on the version of Citus. */
  isTested(): boolean;
  accessTo(node: StorageNode): Pick<NodeAccess, 'read' | 'write' | 'isDirect'> | undefined;
}

/** Milliseconds after which a page does not wait for a node. The page then lacks the changes of this node. */
const patience = 500;

/** The SQLSTATE of a call before `plant-store distribute` has created the function. */
const undefinedFunction = '42883';

/** The changes of one node. */
interface NodePage {
  readonly rows: readonly ChangeRow[];
  /** The number of changes that the node has within the limits of the page. */
  readonly found: number;
  /** The cursor after the changes when the page contains all changes of the node. */
  readonly end: CursorPart;
  readonly heldBackBy: bigint | undefined;
}

/**
 * The feed of a cluster. Each node has a log with the changes of its own shards, and reads this log as a
 * single database reads its feed. See docs/decisions/cluster-feed.md.
 */
export function createNodeFeed({ shards, isTested, accessTo }: NodeFeedOptions) {
  /** The nodes that have not responded for a while. Each of these nodes has a read in progress. */
  const silent = new Set<number>();
  let turn = 0;

  return { readChanges, forgetDeletions };

  async function readChanges(
    after: Cursor | undefined,
    limit: number,
    options: ReadOptions = {},
  ): Promise<ChangePage> {
    const map = await currentMap();
    const { onTurn, settle } = reservePage(options.caller, limit);
    onTurn();
    // The first node changes, so that no node waits when the pages are small.
    turn = (turn + 1) % map.nodes.length;
    const nodes = [...map.nodes.slice(turn), ...map.nodes.slice(0, turn)];
    const size = Math.max(1, Math.floor(limit / nodes.length));
    const mayLackLogs = options.mayLackLogs === true && after !== undefined;
    const pages = await Promise.all(
      nodes.map(async (node) => {
        const page = readNode(map, node, after, size, options);
        return mayLackLogs ? orSilent(node, page) : page;
      }),
    );
    const firstError = pages.find((page) => page instanceof Error);
    if (firstError && pages.every((page) => page instanceof Error)) throw firstError;
    const merged = merge(after ?? [], nodes, pages, limit);
    settle(merged.changes.reduce((sum, change) => sum + Buffer.byteLength(change), 0));
    return merged;
  }

  async function currentMap(): Promise<ShardMap> {
    if (!shards.current) await shards.refresh();
    // The plants move to their nodes, or somebody must run `plant-store distribute` after a split.
    if (!shards.current) throw isTested() ? hasChanged() : noFeedOnCluster();
    return shards.current;
  }

  /** Returns an error when the node is down or does not respond soon. */
  async function orSilent(node: StorageNode, page: Promise<NodePage>): Promise<NodePage | Error> {
    const settled = page.catch((error: unknown) => {
      if (error instanceof PlantStoreError && error.kind === 'databaseUnavailable') return error;
      throw error;
    });
    const timeout = new AbortController();
    const late = setTimeout(patience, undefined, { signal: timeout.signal }).then(() => {
      silent.add(node.id);
      const forget = () => silent.delete(node.id);
      page.then(forget, forget);
      return noResponse(node);
    });
    try {
      return await Promise.race([settled, late]);
    } finally {
      timeout.abort();
      late.catch(() => {});
    }
  }

  async function readNode(
    map: ShardMap,
    node: StorageNode,
    after: Cursor | undefined,
    size: number,
    options: ReadOptions,
  ): Promise<NodePage> {
    const access = accessTo(node);
    if (!access || (options.mayLackLogs && silent.has(node.id))) throw noResponse(node);
    const part = after?.find(({ transaction }) => logOf(transaction) === nameOf(node.id));
    const position = part ? [String(part.transaction), String(part.id)] : [null, null];
    const values = [String(node.someId), ...position, String(size + 1)];
    const call = access.isDirect ? callFeed.changesHere : callFeed.changes;
    const read = access.read(call, values, { share: 'lists', caller: options.caller });
    const { rows } = await read.catch((error: unknown) => {
      throw databaseCode(error) === undefinedFunction ? noFeedOnCluster() : error;
    });
    const changes = rows as ChangeRow[]; // The function returns these columns.
    const log: NodeLog = JSON.parse(changes.pop()?.[1] ?? '');
    const known = map.nodes.map(({ id }) => id).sort((a, b) => a - b);
    if (log.node !== node.id || log.nodes.join() !== known.join()) {
      void shards.refresh();
      throw hasChanged();
    }
    const { epoch } = log;
    if (!epoch) {
      await access.write(callFeed.renew, [String(node.someId)], { share: 'deletes' });
      return readNode(map, node, after, size, options);
    }
    if (after) checkCursor(after, map.nodes.length, part, { ...log, epoch });
    const kept = changes.slice(0, size);
    const last = kept.at(-1);
    const { transaction } = last ? positionOf(last) : (part ?? { transaction: BigInt(log.latest) });
    return {
      rows: kept,
      found: Number(changes[0]?.[3] ?? 0),
      end: { epoch, transaction, id: lastId },
      heldBackBy: log.isHeldBack ? BigInt(log.upTo) : undefined,
    };
  }

  async function forgetDeletions(days: number): Promise<number | undefined> {
    const nodes = shards.current?.nodes ?? [];
    if (nodes.length === 0) return undefined;
    const counts = await Promise.all(nodes.map((node) => forgetOn(node, days)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async function forgetOn(node: StorageNode, days: number): Promise<number> {
    const values = [String(node.someId), String(days)];
    let sum = 0;
    for (;;) {
      const result = await accessTo(node)?.write(callFeed.forget, values, { share: 'deletes' });
      const [[count] = ['0']] = (result?.rows ?? []) as [string][];
      sum += Number(count);
      if (Number(count) < forgetStep) return sum;
    }
  }
}

/** A row of the function. The last row contains the state of the node's log instead of a change. */
type ChangeRow = [change: string, transaction: string, id: string, found: string];

interface NodeLog {
  node: number;
  /** The nodes that store plants. */
  nodes: number[];
  /** Null after a restore or a promotion, before an instance has drawn a new epoch. */
  epoch: string | null;
  forgottenUpTo: string;
  upTo: string;
  isHeldBack: boolean;
  latest: string;
}

const positionOf = ([, transaction, id]: ChangeRow): Position => ({
  transaction: BigInt(transaction),
  id: BigInt(id),
});

function merge(
  after: Cursor,
  nodes: readonly StorageNode[],
  pages: readonly (NodePage | Error)[],
  limit: number,
): ChangePage {
  const taken: ChangeRow[] = [];
  const next: CursorPart[] = [];
  let bytes = 0;
  let hasMore = false;
  let heldBackBy: bigint | undefined;
  for (const [i, { id }] of nodes.entries()) {
    const page = pages[i];
    const before = after.find(({ transaction }) => logOf(transaction) === nameOf(id));
    if (!page || page instanceof Error) {
      heldBackBy = BigInt(-nameOf(id));
      if (before) next.push(before);
      continue;
    }
    let last: ChangeRow | undefined;
    let count = 0;
    for (const row of page.rows) {
      const length = Buffer.byteLength(row[0]);
      if (taken.length === limit || (bytes + length > maxPageBytes && taken.length > 0)) break;
      taken.push(row);
      bytes += length;
      last = row;
      count++;
    }
    heldBackBy ??= page.heldBackBy;
    const isWhole = count === page.found;
    hasMore ||= !isWhole;
    if (isWhole || !before) next.push(page.end);
    else next.push(last ? { epoch: before.epoch, ...positionOf(last) } : before);
  }
  next.sort((a, b) => Number(a.transaction - b.transaction));
  return {
    after: after.length > 0 ? after : next,
    changes: taken.map(([change]) => change),
    positions: taken.map(positionOf),
    next,
    hasMore,
    heldBackBy,
  };
}

function noResponse({ address }: StorageNode): PlantStoreError {
  return databaseUnavailable(new Error(`the node ${address} does not respond`));
}

function hasChanged(): PlantStoreError {
  const message =
    'the nodes or shards of the cluster have changed: after a split, run plant-store distribute';
  return databaseUnavailable(new Error(message));
}
