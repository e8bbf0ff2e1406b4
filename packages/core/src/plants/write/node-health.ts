import { probeNode } from '../../database/cluster/insert-on-node.ts';
import type { ShardMap } from '../../database/cluster/shard-map.ts';
import type { NodeAccess, StorageNode } from '../../database/database.ts';
import { isDataError } from '../../database/database-error.ts';
import { withTimeout } from '../../database/timeout.ts';
import type { PlantTable } from './plant-table.ts';

/** A node of a cluster, and whether its plants can be written. */
export interface NodeState {
  /** Its host and port, as the cluster knows them. */
  readonly address: string;
  /** The part of all ids that it stores, from 0 to 1. */
  readonly share: number;
  readonly isWritable: boolean;
}

/** Milliseconds for the answer to a probe. */
const probeTimeout = 1_000;

/** Remembers which nodes of a cluster cannot be written, by the latest insert on each. */
export class NodeHealth {
  readonly #unwritable = new Set<number>();
  readonly #onChange: (node: number) => void;

  /** @param onChange is called when a node cannot be written any more, or can be written again */
  constructor(onChange: (node: number) => void) {
    this.#onChange = onChange;
  }

  /** The same statements; each insert shows whether the node can be written. */
  observed(node: number, table: PlantTable): PlantTable {
    return {
      ...table,
      insert: async (batch) => {
        try {
          const inserted = await table.insert(batch);
          this.#set(node, true);
          return inserted;
        } catch (error) {
          this.#set(node, isDataError(error));
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
        const probe = withTimeout(probeNode(accessTo(node), node.someId), probeTimeout);
        const isWritable = probe.then(
          () => true,
          () => false,
        );
        this.#set(node.id, await isWritable);
      }),
    );
  }

  stateOf({ id, address, share }: StorageNode): NodeState {
    return { address, share, isWritable: !this.#unwritable.has(id) };
  }

  states(map: ShardMap | undefined): NodeState[] {
    return map?.nodes.map((node) => this.stateOf(node)) ?? [];
  }

  #set(node: number, isWritable: boolean): void {
    if (this.#unwritable.has(node) !== isWritable) return;
    if (isWritable) this.#unwritable.delete(node);
    else this.#unwritable.add(node);
    this.#onChange(node);
  }
}
