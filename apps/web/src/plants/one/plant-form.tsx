import { plantStoreError } from '@plant-store/client';
import { type NewPlant, readId } from '@plant-store/schemas';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ErrorAlert } from '../../store.tsx';
import { Button } from '../../ui/button.tsx';
import { maxShown } from '../../ui/client-text.tsx';
import { Field, submitOnEnter, TextArea } from '../../ui/field.tsx';
import type { FormStart } from '../plant-state.ts';

interface PlantFormProps {
  /** The values with which the form begins. If `start` contains an id, the user cannot change the id. */
  start: FormStart;
  submit: string;
  mutation: { isPending: boolean; error: unknown };
  explanation: ReactNode;
  onSubmit(plant: NewPlant): void;
  onChange(): void;
  onCancel(): void;
}

/** The form for the name, the tag and the number of a plant. */
export function PlantForm(props: PlantFormProps) {
  const { start, submit, mutation, explanation, onSubmit, onChange, onCancel } = props;
  const [suggestedId] = useState(randomId);
  /** A text area with a long name would keep the browser busy for minutes, so users cannot edit such a name. */
  const longName = start.name && start.name.length > maxShown ? start.name : undefined;
  const known = plantStoreError(mutation.error);
  const fields = known?.kind === 'invalidInput' ? known.fields : {};
  const submitForm = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const textOf = (field: string) => String(data.get(field) ?? '');
    const tag = withBreaksOf(start.tag, textOf('tag'));
    onSubmit({
      id: start.id ?? BigInt(textOf('id')),
      name: longName ?? withBreaksOf(start.name, textOf('name')),
      // An empty field means no tag, unless the plant had an empty tag before.
      ...((tag !== '' || start.tag === '') && { tag }),
    });
  };
  return (
    <form className="stack" aria-label={submit} onSubmit={submitForm} onChange={onChange}>
      {longName === undefined ? (
        <TextArea
          label="Name"
          name="name"
          required
          onKeyDown={submitOnEnter}
          defaultValue={start.name}
          error={fields['name']?.[0]}
        />
      ) : (
        <p className="help">The name has {longName.length} characters, and stays as it is.</p>
      )}
      <TextArea
        label="Tag"
        hint="Optional, such as the family of the plant"
        name="tag"
        onKeyDown={submitOnEnter}
        defaultValue={start.tag}
        error={fields['tag']?.[0]}
      />
      {start.id === undefined && (
        <Field
          label="Number"
          hint="A whole number that no other plant has. Keep this number, or type another number."
          name="id"
          inputMode="numeric"
          defaultValue={String(suggestedId)}
          onInput={({ currentTarget: input }) => {
            const { error } = readId(input.value.trim());
            input.setCustomValidity(error ? `The number ${error}.` : '');
          }}
          error={fields['id']?.[0]}
        />
      )}
      {explanation || (known?.kind !== 'invalidInput' && <ErrorAlert error={mutation.error} />)}
      <div className="row">
        <Button kind="primary" type="submit" disabled={mutation.isPending}>
          {submit}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

/** Restores the line breaks of a text. A browser turns every line break in a text area into `\n`. */
function withBreaksOf(before: string | undefined, text: string): string {
  const [lineBreak = '\n'] = /\r\n?/.exec(before ?? '') ?? [];
  return text.replaceAll('\n', lineBreak);
}

/** Makes a number that is almost certainly free, and short enough to read aloud. */
function randomId(): bigint {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return BigInt(random) + 1n;
}
