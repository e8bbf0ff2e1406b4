import { plantStoreError } from '@plant-store/client';
import type { StoredPlant } from '@plant-store/schemas';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { refreshUnlessLive } from '../changes/feed-state.ts';
import { Button } from '../controls/button.tsx';
import { Question } from '../controls/question.tsx';
import { ErrorAlert } from '../store/error-alert.tsx';
import { useTRPC } from '../store/trpc.ts';
import { PlantText } from './plant-text.tsx';

interface DeletePlantProps {
  plant: StoredPlant;
  /** Whether the user can undo the delete for a short time. */
  canUndo: boolean;
  onDeleted(): void;
}

/** Deletes a plant after the user has confirmed the delete. */
export function DeletePlant({ plant: { id, name }, canUndo, onDeleted }: DeletePlantProps) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);

  const isGone = (error: unknown) => plantStoreError(error)?.kind === 'plantUnknown';
  const deletePlant = useMutation(
    trpc.deletePlant.mutationOptions({
      onSettled(_data, error) {
        // If the response to the first attempt was lost, the second attempt finds no plant.
        if (error && !isGone(error)) return;
        queryClient.removeQueries(trpc.getPlant.queryFilter({ id }));
        refreshUnlessLive(queryClient);
        onDeleted();
      },
    }),
  );
  const confirm = () => {
    setIsAsking(false);
    deletePlant.mutate({ id });
  };
  return (
    <>
      {!isGone(deletePlant.error) && (
        <ErrorAlert start="The plant is not deleted." error={deletePlant.error} />
      )}
      <Button
        kind="danger-plain"
        disabled={deletePlant.isPending}
        onClick={() => setIsAsking(true)}
      >
        Delete …
      </Button>
      <Question
        title={
          <>
            Delete “<PlantText text={name} />
            ”?
          </>
        }
        text={afterDelete(1, canUndo)}
        confirm="Delete"
        isOpen={isAsking}
        onConfirm={confirm}
        onCancel={() => setIsAsking(false)}
      />
    </>
  );
}

/** Says whether deleted plants can come back. */
export function afterDelete(count: number, canUndo: boolean): string {
  const [plants, times] = count === 1 ? ['plant', 'a new time'] : ['plants', 'new times'];
  return canUndo
    ? `You can undo this for ten seconds. The ${plants} then get${count === 1 ? 's' : ''} ${times} of creation.`
    : `The ${plants} ${count === 1 ? 'is' : 'are'} deleted for good.`;
}
