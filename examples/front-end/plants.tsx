import { type PlantStoreClient, plantPages, plantStoreError } from '@plant-store/client';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';

interface NewPlant {
  id: bigint;
  name: string;
}

/** Shows the plants of a store, and a form that adds a plant. */
export function Plants({ store }: { store: PlantStoreClient }) {
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery(plantPages(store));
  const add = useAddPlant(store);

  const stored = data?.pages.flatMap(({ plants }) => plants) ?? [];
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get('name'));
    add.mutate({ id: freshId(), name });
    event.currentTarget.reset();
  };
  return (
    <>
      <h1>My plants</h1>
      <form onSubmit={onSubmit}>
        <label>
          Name <input name="name" required />
        </label>{' '}
        <button type="submit">Add</button>
      </form>
      {error && <p role="alert">{messageOf(error)}</p>}
      {add.error && (
        <p role="alert">
          {add.variables.name} is not added: {messageOf(add.error)}{' '}
          <button type="button" onClick={() => add.mutate(add.variables)}>
            Try again
          </button>
        </p>
      )}
      <ul>
        {/* The list shows the new plant before the store responds. */}
        {add.isPending && <li aria-busy="true">{add.variables.name} …</li>}
        {stored.map(({ id, name }) => (
          <li key={String(id)}>{name}</li>
        ))}
      </ul>
      {hasNextPage && (
        <button type="button" onClick={() => fetchNextPage()}>
          More
        </button>
      )}
    </>
  );
}

function useAddPlant(store: PlantStoreClient) {
  const queryClient = useQueryClient();
  return useMutation({
    mutationFn: (plant: NewPlant) => store.createPlant.mutate(plant),
    // `isPending` remains true until `stored` contains the new plant.
    onSuccess: () => queryClient.invalidateQueries({ queryKey: plantPages(store).queryKey }),
  });
}

/** Returns an id of 63 random bits, which is almost certainly free. */
function freshId(): bigint {
  const [bits = 0n] = crypto.getRandomValues(new BigUint64Array(1));
  return bits >> 1n;
}

function messageOf(error: Error): string {
  return plantStoreError(error)?.message ?? error.message;
}
