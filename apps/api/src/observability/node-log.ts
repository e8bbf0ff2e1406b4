import type { NodeState, PlantStore } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';

/** Logs when the plants of a node of a cluster cannot be written any more, or can be written again. */
export function logNodes(server: FastifyInstance, { events }: PlantStore): void {
  const log = ({ address, share, isWritable }: NodeState) => {
    const details = { node: address, share };
    if (isWritable) server.log.info(details, 'the plants of a node can be written again');
    else server.log.warn(details, 'the plants of a node cannot be written');
  };
  events.on('node', log);
  server.addHook('onClose', async () => {
    events.off('node', log);
  });
}

/** The part of all ids, from 0 to 1, that cannot be written now. */
export function unwritableShare(store: PlantStore): number {
  return store.nodes().reduce((sum, { share, isWritable }) => sum + (isWritable ? 0 : share), 0);
}
