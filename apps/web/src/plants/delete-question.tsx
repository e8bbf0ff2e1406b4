import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { client, ErrorAlert, isError, queryClient } from '../store.tsx';
import { closePlant, useAddress } from '../ui/address.ts';
import { savePlants } from '../ui/browser.ts';
import { Button } from '../ui/button.tsx';
import { countOf, number, PlantInLine } from '../ui/client-text.tsx';
import { Dialog, notify } from '../ui/dialog.tsx';
import { plantQuery, type SeenPlant, useListState } from './plant-state.ts';

/** The question names at most this number of plants. */
const mostNames = 5;

/** The client puts ten deletes into one request. */
const atOnce = 10;

/** Asks whether to delete plants, and deletes them. */
export function DeleteQuestion({ plants: asked }: { plants: readonly SeenPlant[] }) {
  const { checked, added, change, close } = useListState();
  const { plant: open } = useAddress();
  /** The plants that are not deleted yet. The list behind the question may change in the meantime. */
  const [plants, setPlants] = useState(asked);

  /** Deletes a plant. With an `etag`, the store deletes only the version that the user has seen. */
  const deleteOne = async ({ id, etag }: SeenPlant) => {
    try {
      await client.deletePlant.mutate({ id, ifMatch: etag });
    } catch (error) {
      // Another person, or an earlier attempt without a response, may have deleted the plant.
      if (isError(error, 'plantUnknown')) return;
      if (isError(error, 'preconditionFailed')) {
        setPlants([await queryClient.fetchQuery(plantQuery(id))]);
      }
      throw error;
    }
  };
  /** Unchecks the deleted plants, and removes them from `added`, even after an error of other deletes. */
  const forget = (left: readonly SeenPlant[]) => {
    const gone = new Set(asked.filter((plant) => !left.includes(plant)).map(({ id }) => id));
    change({
      checked: new Map([...checked].filter(([id]) => !gone.has(id))),
      added: added.filter(({ id }) => !gone.has(id)),
    });
    if (open !== undefined && gone.has(open)) closePlant();
  };
  const remove = useMutation({
    async mutationFn() {
      for (let left = plants; left.length > 0; ) {
        const some = left.slice(0, atOnce);
        const results = await Promise.allSettled(some.map(deleteOne));
        const gone = some.filter((_, i) => results[i]?.status === 'fulfilled');
        left = left.filter((plant) => !gone.includes(plant));
        forget(left);
        const failed = results.find((result) => result.status === 'rejected');
        if (!isError(failed?.reason, 'preconditionFailed')) setPlants(left);
        if (failed) throw failed.reason;
      }
    },
    onSuccess() {
      notify(`Deleted ${countOf(asked.length)}`);
      close();
    },
  });
  const isChanged = isError(remove.error, 'preconditionFailed');
  const confirm = `Delete ${countOf(asked.length)}`;
  return (
    <Dialog role="alertdialog" title={`${confirm}?`} isBusy={remove.isPending} onClose={close}>
      {isChanged ? (
        <p role="alert" className="warning">
          Somebody else has corrected this plant since you opened it. The plant is now:
        </p>
      ) : (
        <p>This cannot be undone.</p>
      )}
      <ul className="help">
        {plants.slice(0, mostNames).map(({ id, name, tag }) => (
          <li key={String(id)}>
            <PlantInLine name={name} tag={tag} />
          </li>
        ))}
        {plants.length > mostNames && <li>and {number.format(plants.length - mostNames)} more</li>}
      </ul>
      {remove.isPending && <p role="status">{countOf(plants.length)} to delete</p>}
      {!isChanged && (
        <ErrorAlert start={`${countOf(plants.length)} not deleted.`} error={remove.error} />
      )}
      <div className="row">
        {!remove.isPending && (
          <>
            <Button icon="download" onClick={() => savePlants(plants)}>
              Save a copy
            </Button>
            <Button data-focus onClick={close}>
              Cancel
            </Button>
          </>
        )}
        <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
          {isChanged ? 'Delete it anyway' : remove.isError ? 'Try again' : confirm}
        </Button>
      </div>
    </Dialog>
  );
}
