import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert, isError } from '../store/errors.tsx';
import { useClient } from '../store/store.tsx';
import { Button } from '../ui/button.tsx';
import { countOf, number } from '../ui/client-text.tsx';
import { Question } from '../ui/dialog.tsx';
import { notify } from '../ui/notice.tsx';
import { plantQuery, refreshPlants, type SeenPlant } from './plant-queries.ts';
import { PlantInLine } from './plant-text.tsx';

/** The question names at most this number of plants. */
const mostNames = 5;

/** The client puts ten deletes into one request. */
const atOnce = 10;

interface DeleteQuestionProps {
  plants: readonly SeenPlant[];
  /** Saves a copy of the plants as a file. */
  onSave(plants: readonly SeenPlant[]): void;
  /** Runs when plants are gone, even if an error has stopped the delete. */
  onDeleted(ids: readonly bigint[]): void;
  onClose(): void;
}

/** Asks whether to delete plants, and deletes them. */
export function DeleteQuestion(props: DeleteQuestionProps) {
  const { plants: asked, onSave, onDeleted, onClose } = props;
  const client = useClient();
  const queryClient = useQueryClient();
  /** The plants of the question stay the same, whatever the list behind it shows. */
  const [plants, setPlants] = useState(asked);
  const [gone, setGone] = useState<readonly bigint[]>([]);
  /** Deletes a plant, if it is still the plant that the user has seen. */
  const deleteOne = async ({ id, etag }: SeenPlant) => {
    try {
      await client.deletePlant.mutate({ id, ifMatch: etag });
    } catch (error) {
      // Another person, or an earlier attempt without a response, may have deleted the plant.
      if (isError(error, 'plantUnknown')) return;
      if (!isError(error, 'preconditionFailed')) throw error;
      const now = await queryClient.fetchQuery(plantQuery(client, id)).catch((error) => {
        if (!isError(error, 'plantUnknown')) throw error;
      });
      if (!now) return;
      setPlants([now]);
      throw error;
    }
  };
  const remove = useMutation({
    async mutationFn() {
      const rest = plants.filter(({ id }) => !gone.includes(id));
      let done = gone;
      try {
        while (rest.length > 0) {
          const some = rest.splice(0, atOnce);
          const results = await Promise.allSettled(some.map(deleteOne));
          const deleted = some.filter((_, i) => results[i]?.status === 'fulfilled');
          done = [...done, ...deleted.map(({ id }) => id)];
          setGone(done);
          const failed = results.find((result) => result.status === 'rejected');
          if (failed) throw failed.reason;
        }
      } finally {
        onDeleted(done);
        void refreshPlants(queryClient);
      }
    },
    onSuccess() {
      notify(`Deleted ${countOf(plants.length)}`);
      onClose();
    },
  });
  const left = plants.length - gone.length;
  const isChanged = isError(remove.error, 'preconditionFailed');
  const confirm = `Delete ${countOf(plants.length)}`;
  const named = plants.slice(0, mostNames);
  return (
    <Question
      title={`${confirm}?`}
      confirm={isChanged ? 'Delete it anyway' : remove.isError ? 'Try again' : confirm}
      isBusy={remove.isPending}
      actions={
        <Button icon="download" onClick={() => onSave(plants)}>
          Save a copy
        </Button>
      }
      onConfirm={() => remove.mutate()}
      onCancel={onClose}
    >
      <div>
        {isChanged && (
          <p role="alert" className="warning">
            Somebody else has corrected this plant since you opened it. It is now:
          </p>
        )}
        {!isChanged && <p>This cannot be undone.</p>}
        <ul className="help">
          {named.map((plant) => (
            <li key={String(plant.id)}>
              <PlantInLine plant={plant} />
            </li>
          ))}
          {plants.length > mostNames && (
            <li>and {number.format(plants.length - mostNames)} more</li>
          )}
        </ul>
      </div>
      {remove.isPending && plants.length > atOnce && (
        <p role="status">
          {number.format(gone.length)} of {number.format(plants.length)} deleted
        </p>
      )}
      {!isChanged && <ErrorAlert start={`${countOf(left)} not deleted.`} error={remove.error} />}
    </Question>
  );
}
