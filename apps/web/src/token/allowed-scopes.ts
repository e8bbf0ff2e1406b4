import { isScope, type Scope } from '@plant-store/schemas/plain';
import { useQuery } from '@tanstack/react-query';
import { background, useTRPC } from '../store/trpc.ts';

/** The scopes of the access token; undefined until the store has answered. */
export function useScopes(): ReadonlySet<Scope> | undefined {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.whoAmI.queryOptions({}, { ...background, staleTime: Number.POSITIVE_INFINITY }),
  );
  return data && new Set(data.scopes.filter(isScope));
}
