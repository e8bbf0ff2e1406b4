import { plantStoreError } from '@plant-store/client';
import type { NewPlant } from '@plant-store/schemas';
import { explainIdText } from '@plant-store/schemas/plain';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ErrorAlert } from '../../store/errors.tsx';
import { Button } from '../../ui/button.tsx';
import { maxShown } from '../../ui/client-text.tsx';
import { Field } from '../../ui/field.tsx';

interface PlantFormProps {
  label: string;
  start: Partial<NewPlant>;
  /** Whether the number of the plant cannot change. */
  isNumberFixed?: boolean;
  submit: string;
  isPending: boolean;
  error: unknown;
  /** Explains the error in place of the usual alert. */
  explanation?: ReactNode;
  onSubmit(plant: NewPlant): void;
  onChange(): void;
  onCancel(): void;
}

/** The form for the name, the tag and the number of a plant. */
export function PlantForm(props: PlantFormProps) {
  const { label, start, isNumberFixed = false, submit, isPending, error, explanation } = props;
  const [name, setName] = useState(start.name ?? '');
  const [tag, setTag] = useState(start.tag ?? '');
  const [number, setNumber] = useState(() => String(start.id ?? randomId()));
  const [isTouched, setIsTouched] = useState(false);
  /** A long name would keep the browser busy for minutes, so the form leaves it as it is. */
  const isNameLong = name.length > maxShown;

  const known = plantStoreError(error);
  const fields = known?.kind === 'invalidInput' ? known.fields : {};
  const nameError = name.trim() === '' ? 'Enter a name' : undefined;
  const numberError = explainIdText(number.trim());
  const field = (set: (value: string) => void) => (value: string) => {
    set(value);
    props.onChange();
  };
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    setIsTouched(true);
    if (nameError || numberError) {
      event.currentTarget.querySelector<HTMLElement>(nameError ? 'textarea' : 'input')?.focus();
      return;
    }
    // An empty field is a missing tag. A tag that was already empty stays so.
    const given = tag === '' && start.tag !== '' ? {} : { tag };
    props.onSubmit({ id: BigInt(number.trim()), name, ...given });
  };
  return (
    <form className="stack" aria-label={label} noValidate onSubmit={onSubmit}>
      {isNameLong ? (
        <p className="help">The name has {name.length} characters. It stays as it is.</p>
      ) : (
        <Field
          label="Name"
          value={name}
          onChange={field(setName)}
          error={fields['name']?.[0] ?? (isTouched ? nameError : undefined)}
          isMultiline
        />
      )}
      <Field
        label="Tag"
        hint="Optional, such as the family of the plant"
        value={tag}
        onChange={field(setTag)}
        error={fields['tag']?.[0]}
        isMultiline
      />
      {!isNumberFixed && (
        <Field
          label="Number"
          hint="A whole number that no other plant has. Keep this one, or type your own."
          inputMode="numeric"
          value={number}
          onChange={field(setNumber)}
          error={fields['id']?.[0] ?? (isTouched ? numberError : undefined)}
        />
      )}
      {explanation || (known?.kind !== 'invalidInput' && <ErrorAlert error={error} />)}
      <div className="row">
        <Button kind="primary" type="submit" disabled={isPending}>
          {submit}
        </Button>
        <Button onClick={props.onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

/** Makes a number that is almost certainly free, and short enough to read aloud. */
function randomId(): bigint {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return BigInt(random) + 1n;
}
