import { setTimeout } from 'node:timers/promises';
import {
  type CallOptions,
  type ChangePage,
  type Cursor,
  createChangeReader,
  cursorExpired,
  cursorOf,
  databaseCode,
  databaseUnavailable,
  logOf,
  noFeedOnCluster,
  PlantStoreError,
  type Position,
  withParts,
} from '@plant-store/core/cluster';
import { callFeed, callHere, forgetStep, nameOf, nodesChanged } from '../shards/feed-functions.ts';
import type { StorageNode } from '../shards/shard-map.ts';
import type { ShardWatch } from '../shards/watch-shards.ts';
import type { NodeAccess } from './node-access.ts';

interface NodeFeedOptions {
  readonly shards: Pick<ShardWatch, 'current' | 'refresh'>;
  /** Whether the store was tested on the version of Citus. */
  isTested(): boolean;
  accessTo(node: StorageNode): Pick<NodeAccess, 'read' | 'write' | 'isDirect'> | undefined;
}

/** After these milliseconds, a page of changes omits the changes of a node that has not responded. */
const patience = { least: 500, most: 2_000 };

/** The SQLSTATE when `plant-store distribute` has not created the function yet. */
const undefinedFunction = '42883';

/** The SQLSTATEs when a shard has left the node, or the function has no statement for a shard of the node. */
const shardsChanged = [nodesChanged, '20000', '42P01', 'XX000', '0A000'];

/**
 * Makes the feed of a cluster. Each node has a log with the changes of its own shards. The log of a node
 * works like the feed of a single database. See docs/decisions/cluster-feed.md.
 */
export function createNodeFeed({ shards, isTested, accessTo }: NodeFeedOptions) {
  /** The nodes that did not respond in time and whose reads are still in progress. */
  const silent = new Set<number>();
  /** The duration of the last read of each node, in milliseconds. */
  const durations = new Map<number, number>();
  let turn = 0;

  return { readChanges, forgetDeletions };

  async function readChanges(
    after: Cursor | undefined,
    limit: number,
    options?: CallOptions,
  ): Promise<ChangePage> {
    let nodes = await currentNodes();
    if (after && !isOf(after, nodes)) {
      await shards.refresh();
      nodes = await currentNodes();
      if (!isOf(after, nodes)) throw cursorExpired('the nodes of the cluster have changed');
    }
    const size = Math.max(1, Math.floor(limit / nodes.length));
    const pages = await Promise.all(
      nodes.map((node, i) => {
        const read = async () => readNode(nodes, node)(after?.parts?.[i], size, options);
        return after ? orSilent(node, read) : read();
      }),
    );
    const [first] = pages;
    if (first instanceof Error && pages.every((page) => page instanceof Error)) throw first;
    turn = (turn + 1) % nodes.length;
    return merge(after, limit, { nodes, pages, turn });
  }

  async function currentNodes(): Promise<readonly StorageNode[]> {
    if (!shards.current) await shards.refresh();
    // No shards are known while the plants move, and after a split until `plant-store distribute` has run.
    if (!shards.current) throw isTested() ? hasChanged() : noFeedOnCluster();
    return shards.current.nodes.toSorted((one, other) => one.id - other.id);
  }

  /**
   * Returns an error when the node is down or does not respond soon. After a read that took long, waits for
   * twice this time, so that followers get the changes of a node that is always slow.
   */
  async function orSilent(node: StorageNode, read: () => Promise<ChangePage>) {
    if (silent.has(node.id)) return noResponse(node);
    const sentAt = performance.now();
    const page = read();
    const enough = Math.max(patience.least, 2 * (durations.get(node.id) ?? 0));
    const keepDuration = () => void durations.set(node.id, performance.now() - sentAt);
    page.then(keepDuration, () => durations.delete(node.id));
    const settled = page.catch((error: unknown) => {
      if (error instanceof PlantStoreError && error.kind === 'databaseUnavailable') return error;
      throw error;
    });
    const timeout = new AbortController();
    const late = setTimeout(Math.min(enough, patience.most), undefined, timeout).then(
      () => {
        silent.add(node.id);
        const forget = () => silent.delete(node.id);
        page.then(forget, forget);
        return noResponse(node);
      },
      () => noResponse(node),
    );
    return Promise.race([settled, late]).finally(() => timeout.abort());
  }

  /** Makes a reader for the log of a node: the reader of a single database, with the statement `callFeed`. */
  function readNode(nodes: readonly StorageNode[], node: StorageNode) {
    const access = accessTo(node);
    if (!access) throw noResponse(node);
    const key = String(node.someId);
    const known = `${node.id}:${nodes.map(({ id }) => String(id)).sort()}`;
    const text = access.isDirect ? callHere(callFeed.changes) : callFeed.changes;
    return createChangeReader({
      read(_, values, options) {
        const [transaction = null, id = null, size = null] = Array.isArray(values) ? values : [];
        return access.read(text, [key, known, transaction, id, size], options).catch(explain);
      },
      renewFeed: async () => {
        await access.write(callFeed.renew, [key], { share: 'deletes' });
      },
    });
  }

  function explain(error: unknown): never {
    const code = databaseCode(error) ?? '';
    if (code === undefinedFunction) throw noFeedOnCluster();
    if (!shardsChanged.includes(code)) throw error;
    void shards.refresh();
    throw hasChanged();
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

/** Whether the cursor consists of one part for each of the nodes. */
function isOf({ parts = [] }: Cursor, nodes: readonly StorageNode[]): boolean {
  const isOfNode = (part: Cursor, i: number) => logOf(part) === nameOf(nodes[i]?.id ?? 0);
  return parts.length === nodes.length && parts.every(isOfNode);
}

interface NodePages {
  readonly nodes: readonly StorageNode[];
  /** For each node, a page of its changes, or an error when the node is down. */
  readonly pages: readonly (ChangePage | PlantStoreError)[];
  /** The index of the node whose changes come first in this page. The next page begins with the next node. */
  readonly turn: number;
}

function merge(
  after: Cursor | undefined,
  limit: number,
  { nodes, pages, turn }: NodePages,
): ChangePage {
  const changes: string[] = [];
  const positions: Position[] = [];
  const parts: Cursor[] = [];
  const heldBackBy = new Map<string, bigint | undefined>();
  let hasMore = false;
  let bytes = 0;
  for (const step of pages.keys()) {
    const i = (turn + step) % pages.length;
    const page = pages[i];
    const address = nodes[i]?.address ?? '';
    const before = after?.parts?.[i];
    if (!page || page instanceof Error) {
      heldBackBy.set(address, 0n);
      if (before) parts[i] = before;
      continue;
    }
    heldBackBy.set(address, page.heldBackBy.get(''));
    let count = 0;
    for (const change of page.changes) {
      bytes += Buffer.byteLength(change);
      if (changes.length === limit || (bytes > maxBytes && changes.length > 0)) break;
      changes.push(change);
      count++;
    }
    positions.push(...page.positions.slice(0, count));
    const isWhole = count === page.changes.length;
    hasMore ||= page.hasMore || !isWhole;
    const last = page.positions[count - 1];
    parts[i] = isWhole || !before ? page.next : { ...before, ...last };
  }
  const next = cursorOf(parts);
  return {
    changes,
    positions: withParts(after ?? next, positions),
    next,
    hasMore,
    heldBackBy,
  };
}

/** The maximum number of bytes in a page, unless a single change is larger. */
const maxBytes = 2 ** 20;

function noResponse({ address }: StorageNode): PlantStoreError {
  return databaseUnavailable(new Error(`the node ${address} does not respond`));
}

function hasChanged(): PlantStoreError {
  const message =
    'the nodes or shards of the cluster have changed: after a split, run plant-store distribute';
  return databaseUnavailable(new Error(message));
}
