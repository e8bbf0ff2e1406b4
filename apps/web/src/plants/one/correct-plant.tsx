import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { isError } from '../../store/errors.tsx';
import { useClient } from '../../store/store.tsx';
import { Button } from '../../ui/button.tsx';
import { notify } from '../../ui/notice.tsx';
import { plantQuery, refreshPlants, type SeenPlant } from '../plant-queries.ts';
import { PlantInLine } from '../plant-text.tsx';
import { PlantForm } from './plant-form.tsx';

interface CorrectPlantProps {
  plant: SeenPlant;
  onCorrected(plant: StoredPlant): void;
  onClose(): void;
}

/** Corrects the name and the tag of a plant. If somebody else was faster, shows both. */
export function CorrectPlant({ plant, onCorrected, onClose }: CorrectPlantProps) {
  const client = useClient();
  const queryClient = useQueryClient();
  /** The form begins with the plant as it was when the user opened the form. */
  const [seen, setSeen] = useState(plant);
  const correct = useMutation({
    mutationFn: ({ plant, ifMatch }: { plant: NewPlant; ifMatch: string | undefined }) =>
      client.replacePlant.mutate({ ...plant, ifMatch }),
    async onSuccess(corrected) {
      onCorrected(corrected);
      await refreshPlants(queryClient);
      notify('Corrected the plant');
      onClose();
    },
  });
  const isConflict = isError(correct.error, 'preconditionFailed');
  const { data: stored } = useQuery({
    ...plantQuery(client, plant.id),
    enabled: isConflict,
    staleTime: 0,
  });
  const mine = correct.variables?.plant;
  return (
    <PlantForm
      label="Correct the plant"
      start={seen}
      isNumberFixed
      submit="Save"
      isPending={correct.isPending}
      error={correct.error}
      explanation={
        isConflict &&
        stored &&
        mine && (
          <section role="alert" className="warning stack" aria-label="Somebody else was faster">
            <p>Somebody else has corrected this plant since you opened it.</p>
            <p>
              Theirs: <PlantInLine plant={stored} />
            </p>
            <p>
              Yours: <PlantInLine plant={mine} />
            </p>
            <div className="row">
              <Button
                onClick={() => {
                  setSeen(stored);
                  correct.mutate({ plant: mine, ifMatch: stored.etag });
                }}
              >
                Save mine
              </Button>
              <Button onClick={onClose}>Keep theirs</Button>
            </div>
          </section>
        )
      }
      onSubmit={(changed) => correct.mutate({ plant: changed, ifMatch: seen.etag })}
      onChange={correct.reset}
      onCancel={onClose}
    />
  );
}
