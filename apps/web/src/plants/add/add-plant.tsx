import { plantStoreError } from '@plant-store/client';
import type { NewPlant } from '@plant-store/schemas';
import { plantColumns, plantFields } from '@plant-store/schemas/plain';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useState } from 'react';
import './add-plant.css';
import { refreshUnlessLive } from '../../changes/feed-state.ts';
import { Button } from '../../controls/button.tsx';
import { TextField } from '../../controls/text-field.tsx';
import { ErrorAlert } from '../../store/error-alert.tsx';
import { capitalized } from '../../store/explain-error.ts';
import { serverState } from '../../store/query-client.ts';
import { useTRPC } from '../../store/trpc.ts';
import { PlantFacts, shownFields } from '../shown-fields.tsx';
import { type FieldName, forgetDraft, keepDraft, type PlantTexts, readDraft } from './draft.ts';
import { checkNewPlant, firstOfEach, formFields, randomId } from './new-plant-form.ts';

interface AddPlantProps {
  mayRead: boolean;
  onAdded(plant: NewPlant): void;
}

// The cast is safe, because the object has a text for each field of the form.
const noTexts = Object.fromEntries(formFields.map((field) => [field, ''])) as PlantTexts;

export function AddPlant({ mayRead, onAdded }: AddPlantProps) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [suggestion, setSuggestion] = useState(() => String(randomId()));
  const [typed, setTyped] = useState(readDraft);
  const [touched, setTouched] = useState<ReadonlySet<FieldName>>(new Set());

  const texts = { ...noTexts, id: suggestion, ...typed };
  const { plant, errors } = checkNewPlant(texts);
  const create = useMutation(
    trpc.createPlant.mutationOptions({
      onSuccess(_reply, created) {
        refreshUnlessLive(queryClient);
        forgetDraft();
        setTyped({});
        setSuggestion(String(randomId()));
        setTouched(new Set());
        // The cast is safe, because the form sends the plant that the schema returned.
        onAdded(created as NewPlant);
      },
    }),
  );
  const { isError: isDown } = useQuery(serverState);
  const { reset } = create;
  useEffect(() => {
    if (!isDown) reset(); // Removes the error when the server is up again.
  }, [isDown, reset]);
  const error = plantStoreError(create.error);
  const fromServer = error?.kind === 'invalidInput' ? firstOfEach(error.fields) : {};

  const field = (name: FieldName) => ({
    value: texts[name],
    error: fromServer[name] ?? (touched.has(name) ? errors[name] : undefined),
    onChange(value: string) {
      const changed = { ...typed, [name]: value };
      setTyped(changed);
      keepDraft(changed);
      setTouched((latest) => new Set([...latest, name]));
      create.reset();
    },
  });
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setTouched(new Set(formFields));
    if (plant) create.mutate(plant);
    else if (errors.name) event.currentTarget.querySelector('textarea')?.focus();
  };
  return (
    <form className="plant-form" aria-label="Add a plant" noValidate onSubmit={onSubmit}>
      {plantFields.map((name) => (
        <TextField
          key={name}
          label={shownFields[name].label}
          description={shownFields[name].hint}
          isMultiline={plantColumns[name].kind === 'text'}
          {...field(name)}
        />
      ))}
      <TextField
        label="Id"
        inputMode="numeric"
        description={'A whole number that no other plant has'}
        {...field('id')}
      />
      {error?.kind === 'idTaken' ? (
        <TakenId message={error.message} id={create.variables?.id} mayRead={mayRead} />
      ) : (
        Object.keys(fromServer).length === 0 && <ErrorAlert error={create.error} />
      )}
      <div className="sheet-actions row">
        <Button kind="primary" type="submit" disabled={create.isPending}>
          Add plant
        </Button>
      </div>
    </form>
  );
}

interface TakenIdProps {
  message: string;
  id: bigint | number | undefined;
  mayRead: boolean;
}

/** Says that an id belongs to another plant, and shows the other plant. */
function TakenId({ message, id = 0n, mayRead }: TakenIdProps) {
  const trpc = useTRPC();
  const { data: owner } = useQuery(
    trpc.getPlant.queryOptions({ id }, { enabled: mayRead, staleTime: 0 }),
  );
  return (
    <section className="taken-id" role="alert" aria-label="The id is taken">
      <p>{capitalized(message)}</p>
      {owner && <PlantFacts plant={owner} />}
    </section>
  );
}
