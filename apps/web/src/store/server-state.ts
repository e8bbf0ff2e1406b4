import { queryOptions, useQuery } from '@tanstack/react-query';
import { baseUrl } from './trpc.ts';

/** Milliseconds between two checks while the server answers, and while it does not. */
const interval = { up: 10_000, away: 1_000 };

/** Asks whether the server and its database are ready. */
export const serverState = queryOptions({
  queryKey: ['readyz'],
  async queryFn({ signal }) {
    const reply = await fetch(new URL('readyz', baseUrl()), { signal, cache: 'no-store' });
    if (!reply.ok) throw new Error(`the server answered ${reply.status}`);
    return 'ready';
  },
  refetchInterval: ({ state }) => (state.status === 'error' ? interval.away : interval.up),
});

/** Whether the server, or its database, is away. */
export function useServerIsAway(): boolean {
  return useQuery(serverState).isError;
}
