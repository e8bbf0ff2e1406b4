import type { StoredPlant } from '@plant-store/schemas';
import { maxNewPlants } from '@plant-store/schemas/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { refreshUnlessLive } from '../changes/feed-state.ts';
import { createPlants } from '../import/create-plants.ts';
import { countOf, PlantText } from '../plants/plant-text.tsx';
import { explainError } from '../store/explain-error.ts';
import { useTRPCClient } from '../store/trpc.ts';
import type { NoticeText } from './notice.tsx';

/** Returns a function that names deleted plants in a notice, whose button creates the plants again. */
export function useUndo(canUndo: boolean, setNotice: (notice: NoticeText) => void) {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const undo = useMutation({
    async mutationFn(plants: readonly StoredPlant[]) {
      const again = plants.map(({ createdAt: _, ...plant }) => plant);
      let count = 0;
      for (let start = 0; start < again.length; start += maxNewPlants) {
        const part = again.slice(start, start + maxNewPlants);
        const results = await createPlants(part, { client: async () => client });
        count += results.filter((result) => !('error' in result)).length;
      }
      return count;
    },
    onMutate: () => setNotice({ text: 'Adding the plants again …' }),
    onSuccess(count, { length }) {
      const times = count === 1 ? 'a new time' : 'new times';
      const others = count < length ? `; ${countOf(length - count)} not added` : '';
      setNotice({ text: `Added ${countOf(count)} again, with ${times} of creation${others}` });
    },
    onError: (error) =>
      setNotice({ text: `Not all plants are added again. ${explainError(error)}` }),
    onSettled: () => refreshUnlessLive(queryClient),
  });
  return (plants: readonly StoredPlant[]) => {
    const [plant, ...others] = plants;
    const text =
      plant && others.length === 0 ? (
        <>
          Deleted the plant {String(plant.id)}, “<PlantText text={plant.name} />”
        </>
      ) : (
        `Deleted ${countOf(plants.length)}`
      );
    const action = { label: 'Undo', run: () => undo.mutate(plants) };
    setNotice({ text, actions: canUndo ? [action] : [] });
  };
}
