import type { NewPlant } from '@plant-store/schemas';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { isError } from '../../store/errors.tsx';
import { useClient } from '../../store/store.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/notice.tsx';
import { plantQuery, type SeenPlant, useListState } from '../plant-state.ts';
import { PlantInLine } from '../plant-text.tsx';
import { PlantForm } from './plant-form.tsx';

interface CorrectPlantProps {
  /** The plant as it is in the store now. */
  plant: SeenPlant;
  onClose(): void;
}

/** Corrects the name and the tag of a plant. If somebody else was faster, shows both. */
export function CorrectPlant({ plant, onClose }: CorrectPlantProps) {
  const client = useClient();
  const queryClient = useQueryClient();
  const { added, change } = useListState();
  /** The plant as it was when the user opened the form. */
  const [start] = useState(plant);
  const correct = useMutation({
    mutationFn: (input: NewPlant & { ifMatch: string | undefined }) =>
      client.replacePlant.mutate(input),
    onSuccess(corrected) {
      queryClient.setQueryData(plantQuery(client, corrected.id).queryKey, corrected);
      change({ added: added.map((each) => (each.id === corrected.id ? corrected : each)) });
      notify('Corrected the plant');
      onClose();
    },
  });
  const { variables: mine, error } = correct;
  const isConflict = isError(error, 'preconditionFailed');
  return (
    <PlantForm
      label="Correct the plant"
      start={start}
      submit="Save"
      mutation={correct}
      explanation={
        isConflict &&
        mine &&
        mine.ifMatch !== plant.etag && (
          <section role="alert" className="warning stack" aria-label="Somebody else was faster">
            <p>Somebody else has corrected this plant since you opened it.</p>
            <p>
              Theirs: <PlantInLine name={plant.name} tag={plant.tag} />
            </p>
            <p>
              Yours: <PlantInLine name={mine.name} tag={mine.tag} />
            </p>
            <div className="row">
              <Button onClick={() => correct.mutate({ ...mine, ifMatch: plant.etag })}>
                Save mine
              </Button>
              <Button onClick={onClose}>Keep theirs</Button>
            </div>
          </section>
        )
      }
      onSubmit={(changed) => correct.mutate({ ...changed, ifMatch: start.etag })}
      onChange={correct.reset}
      onCancel={onClose}
    />
  );
}
