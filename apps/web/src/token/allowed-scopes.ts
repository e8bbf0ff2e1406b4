import { isScope } from '@plant-store/schemas/plain';
import { useQuery } from '@tanstack/react-query';
import { background, useTRPC } from '../store/trpc.ts';

/** Whether the access token may read, create and delete plants. */
export type Permissions = Readonly<Record<'read' | 'create' | 'delete', boolean>>;

/** Returns the scopes of the access token, which are undefined until the store has responded. */
export function useScopes() {
  const trpc = useTRPC();
  const { data, error } = useQuery(
    trpc.whoAmI.queryOptions({}, { ...background, staleTime: Number.POSITIVE_INFINITY }),
  );
  const scopes = data && new Set(data.scopes.filter(isScope));
  const may: Permissions = {
    read: scopes?.has('plants:read') ?? false,
    create: scopes?.has('plants:create') ?? false,
    delete: scopes?.has('plants:delete') ?? false,
  };
  return { scopes, may, error };
}
