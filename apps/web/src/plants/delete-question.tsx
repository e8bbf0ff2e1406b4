import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert, isError } from '../store/errors.tsx';
import { useClient } from '../store/store.tsx';
import { Button } from '../ui/button.tsx';
import { countOf, number } from '../ui/client-text.tsx';
import { Question } from '../ui/dialog.tsx';
import { notify } from '../ui/notice.tsx';
import { savePlants } from './plant-file.ts';
import { plantQuery, type SeenPlant } from './plant-state.ts';
import { PlantInLine } from './plant-text.tsx';

/** The question names at most this number of plants. */
const mostNames = 5;

/** The client puts ten deletes into one request. */
const atOnce = 10;

interface DeleteQuestionProps {
  plants: readonly SeenPlant[];
  /** Runs with all plants that are gone so far, even if an error has stopped the delete. */
  onDeleted(ids: readonly bigint[]): void;
  onClose(): void;
}

/** Asks whether to delete plants, and deletes them. */
export function DeleteQuestion({ plants: asked, onDeleted, onClose }: DeleteQuestionProps) {
  const client = useClient();
  const queryClient = useQueryClient();
  /** The plants that are still there. They stay the same, whatever the list behind the question shows. */
  const [plants, setPlants] = useState(asked);

  /** Deletes a plant, if it is still the plant that the user has seen. */
  const deleteOne = async ({ id, etag }: SeenPlant) => {
    try {
      await client.deletePlant.mutate({ id, ifMatch: etag });
    } catch (error) {
      // Another person, or an earlier attempt without a response, may have deleted the plant.
      if (isError(error, 'plantUnknown')) return;
      if (isError(error, 'preconditionFailed')) {
        setPlants([await queryClient.fetchQuery(plantQuery(client, id))]);
      }
      throw error;
    }
  };
  const remove = useMutation({
    async mutationFn() {
      for (let left = plants; left.length > 0; ) {
        const some = left.slice(0, atOnce);
        const results = await Promise.allSettled(some.map(deleteOne));
        const gone = some.filter((_, i) => results[i]?.status === 'fulfilled');
        left = left.filter((plant) => !gone.includes(plant));
        onDeleted(asked.filter((plant) => !left.includes(plant)).map(({ id }) => id));
        const failed = results.find((result) => result.status === 'rejected');
        if (!isError(failed?.reason, 'preconditionFailed')) setPlants(left);
        if (failed) throw failed.reason;
      }
    },
    onSuccess() {
      notify(`Deleted ${countOf(asked.length)}`);
      onClose();
    },
  });
  const isChanged = isError(remove.error, 'preconditionFailed');
  const confirm = `Delete ${countOf(asked.length)}`;
  return (
    <Question
      title={`${confirm}?`}
      confirm={isChanged ? 'Delete it anyway' : remove.isError ? 'Try again' : confirm}
      isBusy={remove.isPending}
      actions={
        <Button icon="download" onClick={() => savePlants(plants)}>
          Save a copy
        </Button>
      }
      onConfirm={() => remove.mutate()}
      onClose={onClose}
    >
      {isChanged ? (
        <p role="alert" className="warning">
          Somebody else has corrected this plant since you opened it. It is now:
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
    </Question>
  );
}
