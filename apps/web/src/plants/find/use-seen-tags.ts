import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useTRPC } from '../../store/trpc.ts';

/** The console remembers at most this number of tags. */
const keptTags = 1_000;

/** Returns a function that lists the tags of all loaded plants, with the latest tag first. */
export function useSeenTags(): () => readonly string[] {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [seen] = useState(() => new Set<string>());
  useEffect(() => {
    const { queryKey } = trpc.listPlants.queryFilter();
    const [path] = queryKey ?? [];
    return queryClient.getQueryCache().subscribe(({ type, query }) => {
      if (type !== 'updated' || String(query.queryKey[0]) !== String(path)) return;
      const page: { plants: { tag?: string }[] } | undefined = query.state.data;
      for (const { tag } of page?.plants ?? []) {
        if (tag !== undefined && seen.size < keptTags) seen.add(tag);
      }
    });
  }, [queryClient, trpc, seen]);
  return () => [...seen].reverse();
}
