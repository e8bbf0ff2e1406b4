import { isScope } from '@plant-store/schemas/plain';
import { useQuery } from '@tanstack/react-query';
import { background, useTRPC } from '../store/trpc.ts';

/** Whether the access token may read, create and delete plants, and manage access tokens. */
export type Permissions = Readonly<Record<'read' | 'create' | 'delete' | 'manage', boolean>>;

/**
 * Returns the scopes of the access token, or undefined until the store responds. Before the response, the
 * console assumes that the token may read plants: the scopes and the list need only one round trip together.
 */
export function useScopes() {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.whoAmI.queryOptions({}, { ...background, staleTime: Number.POSITIVE_INFINITY }),
  );
  const scopes = data && new Set(data.scopes.filter(isScope));
  const may: Permissions = {
    read: scopes?.has('plants:read') ?? true,
    create: scopes?.has('plants:create') ?? false,
    delete: scopes?.has('plants:delete') ?? false,
    manage: scopes?.has('tokens:manage') ?? false,
  };
  return { identity: data, scopes, may };
}

/** Describes scopes, such as "create and read plants". */
export function describeScopes(scopes: Iterable<string>): string {
  const names = [...scopes];
  const verbs = names.flatMap((name) => /^plants:(.*)/.exec(name)?.[1] ?? []);
  const tokens = names.includes('tokens:manage') ? ['manage access tokens'] : [];
  const plants = verbs.length > 0 ? [`${new Intl.ListFormat('en').format(verbs)} plants`] : [];
  return [...plants, ...tokens].join(', and ') || 'do nothing';
}
