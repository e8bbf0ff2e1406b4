import type { StoredPlant } from '@plant-store/schemas';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert, isUnknownPlant } from '../store/errors.tsx';
import { useClient } from '../store/store.tsx';
import { Button } from '../ui/button.tsx';
import { ClientText, countOf, number } from '../ui/client-text.tsx';
import { Question } from '../ui/dialog.tsx';
import { notify } from '../ui/notice.tsx';
import { refreshPlants } from './plant-queries.ts';

/** The question names at most this number of plants. */
const mostNames = 5;

/** The client puts ten deletes into one request. */
const atOnce = 10;

interface DeleteQuestionProps {
  plants: readonly StoredPlant[];
  /** Saves a copy of the plants as a file. */
  onSave(plants: readonly StoredPlant[]): void;
  /** Runs when plants are gone, even if an error has stopped the delete. */
  onDeleted(ids: readonly bigint[]): void;
  onClose(): void;
}

/** Asks whether to delete plants, and deletes them. */
export function DeleteQuestion(props: DeleteQuestionProps) {
  const { plants: asked, onSave, onDeleted, onClose } = props;
  const { deletePlant } = useClient();
  const queryClient = useQueryClient();
  /** The plants of the question stay the same, whatever the list behind it shows. */
  const [plants] = useState(asked);
  const [gone, setGone] = useState<readonly bigint[]>([]);
  const remove = useMutation({
    async mutationFn() {
      const rest = plants.map(({ id }) => id).filter((id) => !gone.includes(id));
      let done = gone;
      try {
        while (rest.length > 0) {
          const ids = rest.splice(0, atOnce);
          const results = await Promise.allSettled(ids.map((id) => deletePlant.mutate({ id })));
          const errors = results.map((result): unknown => 'reason' in result && result.reason);
          // Another person, or an earlier attempt without a response, may have deleted a plant.
          const isGone = (error: unknown) => !error || isUnknownPlant(error);
          done = [...done, ...ids.filter((_, i) => isGone(errors[i]))];
          setGone(done);
          const error = errors.find((each) => !isGone(each));
          if (error) throw error;
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
  const named = plants.slice(0, mostNames);
  return (
    <Question
      title={`Delete ${countOf(plants.length)}?`}
      confirm={remove.isError ? 'Try again' : `Delete ${countOf(plants.length)}`}
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
        <p>This cannot be undone.</p>
        <ul className="help">
          {named.map(({ id, name }) => (
            <li key={String(id)}>
              <ClientText text={name.slice(0, 200)} />
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
      <ErrorAlert start={`${countOf(left)} not deleted.`} error={remove.error} />
    </Question>
  );
}
