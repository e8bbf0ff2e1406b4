import type { PlantStoreClient } from '@plant-store/client';
import { type Scope, scopes } from '@plant-store/schemas';
import { useQuery } from '@tanstack/react-query';
import { isScopeError, isTemporary, isTokenError } from '../store/explain-error.ts';
import { useTRPCClient } from '../store/trpc.ts';

/**
 * Finds out what the access token may do. The store checks a call's scope before its input, so a call
 * with an invalid id changes nothing: its error says whether the scope is there.
 */
async function findScopes(client: PlantStoreClient): Promise<Set<Scope>> {
  const none = { id: 'none' } as never; // The types reject this input, as the procedures do.
  const calls: Record<Scope, Promise<unknown>> = {
    'plants:create': client.createPlant.mutate(none),
    'plants:read': client.getPlant.query(none),
    'plants:delete': client.deletePlant.mutate(none),
  };
  const allowed = await Promise.all(
    scopes.map((scope) => calls[scope].then(() => true, isAllowed)),
  );
  return new Set(scopes.filter((_, i) => allowed[i]));
}

function isAllowed(error: unknown): boolean {
  if (isTemporary(error) || isTokenError(error)) throw error;
  return !isScopeError(error);
}

/** The scopes of the access token; undefined until the store has answered. */
export function useScopes(): ReadonlySet<Scope> | undefined {
  const client = useTRPCClient();
  return useQuery({
    queryKey: ['scopes'],
    queryFn: () => findScopes(client),
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
}
