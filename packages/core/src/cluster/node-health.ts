import { isDataError, isLateWrite } from '../database/database-error.ts';
import { deadlineIn } from '../database/deadline.ts';
import type { PlantStatements } from '../plants/statements.ts';
import type { NodeAccess } from './node-access.ts';
import { callAnywhere, insertNothing } from './node-functions.ts';
import type { ShardMap, StorageNode } from './shard-map.ts';

/** A node of a cluster, and whether its plants can be written. */
export interface NodeState {
  /** Its host and port, as the cluster knows them. */
  readonly address: string;
  /** The part of all ids that it stores, from 0 to 1. */
  readonly share: number;
  readonly isWritable: boolean;
}

/** Whether creates of a node of a cluster take a detour through the node that the URL names. */
export interface NodeDetour {
  /** The host and port of the node, as the cluster knows them. */
  readonly address: string;
  /** Why this process cannot reach the node itself; undefined when it can again. */
  readonly error: unknown;
}

interface NodeHealthOptions {
  /** Is called when a node cannot be written any more, or can be written again. */
  readonly onChange: (node: number) => void;
  /** Is called when creates of a node begin or stop to take a detour. The error is its cause. */
  readonly onDetour: (node: number, error: unknown) => void;
  readonly now?: () => number;
}

/** Milliseconds for the answer to a probe. */
const probeTimeout = 1_000;

/** Milliseconds for which a failed insert counts more than a probe, which writes nothing. */
const insertCounts = 10_000;

/**
 * Remembers which nodes of a cluster cannot be written, by the latest insert on each, and which can be
 * written only through another node.
 */
export class NodeHealth {
  readonly #unwritable = new Set<number>();
  /** When the latest insert on a node failed. */
  readonly #failedAt = new Map<number, number>();
  readonly #detours = new Set<number>();
  readonly #options: Required<NodeHealthOptions>;

  constructor(options: NodeHealthOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  /** The same statements; each insert shows whether the node can be written. */
  observed(node: number, statements: PlantStatements, access: NodeAccess): PlantStatements {
    return {
      ...statements,
      insert: async (batch, deadline) => {
        try {
          const inserted = await statements.insert(batch, deadline);
          this.#set(node, true);
          this.#setDetour(node, access);
          return inserted;
        } catch (error) {
          const isWritable = isDataError(error) || isLateWrite(error);
          if (!isWritable) this.#failedAt.set(node, this.#options.now());
          this.#set(node, isWritable);
          throw error;
        }
      },
    };
  }

  /** Finds out which nodes can be written. The promise is never rejected. */
  async probe(
    nodes: readonly StorageNode[],
    accessTo: (node: StorageNode) => NodeAccess,
  ): Promise<void> {
    await Promise.all(
      nodes.map(async (node) => {
        const access = accessTo(node);
        const isWritable = probeNode(access, node.someId).then(
          () => true,
          () => false,
        );
        if (!(await isWritable)) return this.#set(node.id, false);
        if (!this.#hasFailedLately(node.id)) this.#set(node.id, true);
        this.#setDetour(node.id, access);
      }),
    );
  }

  stateOf({ id, address, share }: StorageNode): NodeState {
    return { address, share, isWritable: !this.#unwritable.has(id) };
  }

  states(map: ShardMap | undefined): NodeState[] {
    return map?.nodes.map((node) => this.stateOf(node)) ?? [];
  }

  /** A node whose disk is full answers a probe, but refuses each insert. */
  #hasFailedLately(node: number): boolean {
    const failedAt = this.#failedAt.get(node) ?? Number.NEGATIVE_INFINITY;
    return this.#options.now() - failedAt < insertCounts;
  }

  #set(node: number, isWritable: boolean): void {
    if (this.#unwritable.has(node) !== isWritable) return;
    if (isWritable) this.#unwritable.delete(node);
    else this.#unwritable.add(node);
    this.#options.onChange(node);
  }

  /** Only after a success: while a node is away, nobody reaches it. */
  #setDetour(node: number, { directError }: NodeAccess): void {
    const isDetour = directError !== undefined;
    if (this.#detours.has(node) === isDetour) return;
    if (isDetour) this.#detours.add(node);
    else this.#detours.delete(node);
    this.#options.onDetour(node, directError);
  }
}

/** Inserts no plant on a node. It fails when the node cannot be written. */
async function probeNode({ run }: NodeAccess, someId: bigint): Promise<void> {
  const values = (until: string) => insertNothing(someId, until);
  const options = { share: 'lookUps', deadline: deadlineIn(probeTimeout) } as const;
  await run(callAnywhere.insert, values, options);
}
