import { type NewPlant, shorten } from '@plant-store/schemas';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { client, isError, queryClient, useIdentity } from '../../store.tsx';
import { Button } from '../../ui/button.tsx';
import { PlantInLine } from '../../ui/client-text.tsx';
import { Dialog, notify } from '../../ui/dialog.tsx';
import { type FormStart, plantQuery, type SeenPlant, useListState } from '../plant-state.ts';
import { PlantFacts } from '../plant-text.tsx';
import { PlantForm } from './plant-form.tsx';

/** Adds one plant. For a duplicate, the form begins with the name and the tag of another plant. */
export function AddPlant({ start }: { start: FormStart }) {
  const { added, change, close } = useListState();
  const [isTyped, setIsTyped] = useState(false);
  const add = useMutation({
    mutationFn: (plant: NewPlant) => client.createPlant.mutate(plant),
    onSuccess(_response, plant) {
      change({ dialog: undefined, added: [{ ...plant, createdAt: new Date() }, ...added] });
      notify(`Added “${shorten(plant.name, 60)}”`);
    },
  });
  const { error, variables } = add;
  const isTaken = isError(error, 'idTaken');
  const onLeave = () => {
    if (!isTyped || confirm('Close without adding the plant? Your text is then lost.')) close();
  };
  return (
    <Dialog place="side" title="Add a plant" onClose={onLeave}>
      <PlantForm
        start={start}
        submit="Add plant"
        mutation={add}
        explanation={isTaken && variables && <TakenNumber id={variables.id} />}
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
function TakenNumber({ id }: { id: bigint }) {
  const { may } = useIdentity();
  const { data: owner } = useQuery({ ...plantQuery(id), enabled: may('plants:read') });
  return (
    <section role="alert" aria-label="The number is taken">
      <p className="warning">
        The number {String(id)} belongs to another plant. Choose another number.
      </p>
      {owner && <PlantFacts plant={owner} />}
    </section>
  );
}

/** Corrects the name and the tag of a plant. After a change by somebody else, shows both versions. */
export function CorrectPlant({ plant, onClose }: { plant: SeenPlant; onClose(): void }) {
  const { added, change } = useListState();
  /** The plant as it was when the user opened the form. */
  const [start] = useState(plant);
  const correct = useMutation({
    mutationFn: (input: NewPlant & { ifMatch: string | undefined }) =>
      client.replacePlant.mutate(input),
    onSuccess(corrected) {
      queryClient.setQueryData(plantQuery(corrected.id).queryKey, corrected);
      change({ added: added.map((each) => (each.id === corrected.id ? corrected : each)) });
      notify('Corrected the plant');
      onClose();
    },
  });
  const { variables: mine, error } = correct;
  const isConflict = isError(error, 'preconditionFailed') && mine?.ifMatch !== plant.etag;
  return (
    <PlantForm
      start={start}
      submit="Save"
      mutation={correct}
      explanation={
        isConflict &&
        mine && (
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
