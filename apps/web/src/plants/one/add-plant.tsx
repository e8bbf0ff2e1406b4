import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { explainError, isError } from '../../store/errors.tsx';
import { useClient } from '../../store/store.tsx';
import { Dialog, Question } from '../../ui/dialog.tsx';
import { plantQuery, refreshPlants } from '../plant-queries.ts';
import { PlantFacts } from '../plant-text.tsx';
import { PlantForm } from './plant-form.tsx';

interface AddPlantProps {
  mayRead: boolean;
  /** The texts with which the form begins, when a plant is duplicated. */
  start: Partial<NewPlant>;
  onAdded(plant: StoredPlant): void;
  onClose(): void;
}

/** Adds one plant. */
export function AddPlant({ mayRead, start, onAdded, onClose }: AddPlantProps) {
  const client = useClient();
  const queryClient = useQueryClient();
  const add = useMutation({
    mutationFn: (plant: NewPlant) => client.createPlant.mutate(plant),
    onSuccess(_response, plant) {
      onAdded({ ...plant, createdAt: new Date() });
      void refreshPlants(queryClient);
    },
  });
  const [isTyped, setIsTyped] = useState(false);
  const [isAsking, setIsAsking] = useState(false);
  const onLeave = () => (isTyped ? setIsAsking(true) : onClose());
  const isTaken = isError(add.error, 'idTaken');
  return (
    <Dialog place="side" title="Add a plant" onClose={onLeave}>
      <PlantForm
        label="Add a plant"
        start={start}
        submit="Add plant"
        isPending={add.isPending}
        error={add.error}
        explanation={
          isTaken && (
            <TakenNumber
              id={add.variables?.id ?? 0n}
              message={explainError(add.error)}
              mayRead={mayRead}
            />
          )
        }
        onSubmit={add.mutate}
        onChange={() => {
          add.reset();
          setIsTyped(true);
        }}
        onCancel={onLeave}
      />
      {isAsking && (
        <Question
          title="Close without adding the plant?"
          confirm="Close"
          onConfirm={onClose}
          onCancel={() => setIsAsking(false)}
        >
          <p>What you have typed is then lost.</p>
        </Question>
      )}
    </Dialog>
  );
}

/** Says that a number belongs to another plant, and shows the other plant. */
function TakenNumber({ id, message, mayRead }: { id: bigint; message: string; mayRead: boolean }) {
  const client = useClient();
  const { data: owner } = useQuery({ ...plantQuery(client, id), enabled: mayRead });
  return (
    <section role="alert" aria-label="The number is taken">
      <p className="warning">{message}</p>
      {owner && <PlantFacts plant={owner} />}
    </section>
  );
}
