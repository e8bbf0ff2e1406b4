import { useQuery } from '@tanstack/react-query';
import { background, useTRPC, useTRPCClient } from '../../store/trpc.ts';

/** Milliseconds between two checks for new plants while the page is visible. */
const interval = 5_000;

/** The number of plants, all or those with a tag, and its change since the table was loaded. */
export function usePlantCount(tag: string | undefined) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const input = tag === undefined ? {} : { tag };
  const key = trpc.countPlants.queryKey(input);
  const queryFn = () => client.countPlants.query(input, background.trpc);

  const shown = useQuery({
    queryKey: [...key, 'shown'],
    queryFn,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
  const latest = useQuery({
    queryKey: [...key, 'latest'],
    queryFn,
    enabled: shown?.isExact ?? false,
    staleTime: interval,
    refetchInterval: interval,
  }).data;
  return {
    shown,
    added: shown && latest?.isExact ? latest.count - shown.count : 0,
  };
}
