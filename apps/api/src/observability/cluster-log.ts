import type { NodeReroute, NodeState, PlantStore } from '@plant-store/core';
import type { FastifyInstance } from 'fastify';

/** Logs when a node of a cluster goes down or works again. Also logs the warnings of the store. */
export function logCluster(server: FastifyInstance): void {
  const { events } = server.store;
  const log = ({ address, share, isWritable }: NodeState) => {
    const details = { node: address, share };
    if (isWritable) server.log.info(details, 'the plants of a node can be written again');
    else server.log.warn(details, 'the plants of a node cannot be written');
  };
  const logReroute = ({ address, error }: NodeReroute) => {
    if (error === undefined)
      server.log.info({ node: address }, 'this instance can reach a node itself again');
    else server.log.warn({ node: address, err: error }, unreachable);
  };
  const warn = (message: string) => server.log.warn(message);
  events.on('node', log);
  events.on('rerouted', logReroute);
  events.on('warning', warn);
  server.addHook('onClose', async () => {
    events.off('node', log);
    events.off('rerouted', logReroute);
    events.off('warning', warn);
  });
}

const unreachable =
  'this instance cannot reach a node itself, so the node in its URL passes creates on, which costs CPU ' +
  'time there: check the address of the node in pg_dist_node, and name resolution and firewalls here';

/** For some ids, clients cannot create or delete plants now. Returns the share of these ids, from 0 to 1. */
export function unwritableRatio(store: PlantStore): number {
  return store.nodes().reduce((sum, { share, isWritable }) => sum + (isWritable ? 0 : share), 0);
}
