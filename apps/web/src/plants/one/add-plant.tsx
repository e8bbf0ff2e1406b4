import { type NewPlant, type StoredPlant, shorten } from '@plant-store/schemas';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { explainError, isError } from '../../store/errors.tsx';
import { useClient, useIdentity } from '../../store/store.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/notice.tsx';
import { plantQuery } from '../plant-state.ts';
import { PlantFacts } from '../plant-text.tsx';
import { PlantForm } from './plant-form.tsx';

interface AddPlantProps {
  /** The texts with which the form begins, when a plant is duplicated. */
  start: Partial<NewPlant>;
  onAdded(plant: StoredPlant): void;
  onClose(): void;
}

/** Adds one plant. */
export function AddPlant({ start, onAdded, onClose }: AddPlantProps) {
  const client = useClient();
  const [isTyped, setIsTyped] = useState(false);
  const add = useMutation({
    mutationFn: (plant: NewPlant) => client.createPlant.mutate(plant),
    onSuccess(_response, plant) {
      onAdded({ ...plant, createdAt: new Date() });
      notify(`Added “${shorten(plant.name)}”`);
    },
  });
  const onLeave = () => {
    if (!isTyped || confirm('Close without adding the plant? Your text is then lost.')) onClose();
  };
  const { error, variables } = add;
  return (
    <Dialog place="side" title="Add a plant" onClose={onLeave}>
      <PlantForm
        label="Add a plant"
        start={start}
        submit="Add plant"
        mutation={add}
        explanation={
          isError(error, 'idTaken') &&
          variables && <TakenNumber id={variables.id} message={explainError(error)} />
        }
        onSubmit={add.mutate}
        onChange={() => {
          add.reset();
          setIsTyped(true);
        }}
        onCancel={onLeave}
      />
    </Dialog>
  );
}

/** Says that a number belongs to another plant, and shows the other plant. */
function TakenNumber({ id, message }: { id: bigint; message: string }) {
  const client = useClient();
  const { may } = useIdentity();
  const { data: owner } = useQuery({ ...plantQuery(client, id), enabled: may('plants:read') });
  return (
    <section role="alert" aria-label="The number is taken">
      <p className="warning">{message}</p>
      {owner && <PlantFacts plant={owner} />}
    </section>
  );
}
