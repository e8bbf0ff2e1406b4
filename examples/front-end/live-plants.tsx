import {
  followPlants,
  type PlantStoreClient,
  plantStoreError,
  type StoredPlant,
} from '@plant-store/client';
import { useEffect, useState } from 'react';

/** A list of the plants of a store. The list shows each change immediately. */
export function LivePlants({ store }: { store: PlantStoreClient }) {
  const [plants, setPlants] = useState<StoredPlant[]>([]);
  const [error, setError] = useState<unknown>();
  useEffect(() => followPlants(store, { onPlants: setPlants, onError: setError }), [store]);
  return (
    <>
      <h1>My {plants.length} plants</h1>
      {error !== undefined && <p role="alert">{plantStoreError(error)?.message ?? `${error}`}</p>}
      <ul>
        {plants.map(({ id, name }) => (
          <li key={String(id)}>{name}</li>
        ))}
      </ul>
    </>
  );
}
