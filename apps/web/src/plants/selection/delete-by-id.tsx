import { readIdText } from '@plant-store/schemas/plain';
import { type FormEvent, useState } from 'react';
import { TextField } from '../../controls/text-field.tsx';
import { DeleteButton } from '../delete-button.tsx';
import { countOf } from '../plant-text.tsx';

/** Deletes plants whose ids the user types. The form is for a token that may not read plants. */
export function DeleteById() {
  const [text, setText] = useState('');
  const [gone, setGone] = useState<{ deleted: readonly bigint[]; missing: number }>();
  const ids = idsIn(text);
  const wrong = wordsIn(text).find((word) => readIdText(word) === undefined);
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    event.currentTarget.querySelector('button')?.click();
  };
  return (
    <form className="plant-form" aria-label="Delete plants" onSubmit={onSubmit}>
      <TextField
        label="Ids"
        description="One or more ids, with spaces or line breaks between the ids"
        isMultiline
        error={wrong === undefined ? undefined : `“${wrong}” is not an id`}
        value={text}
        onChange={setText}
      />
      <div className="sheet-actions row">
        <DeleteButton
          plants={new Map(ids.map((id) => [id, id]))}
          canUndo={false}
          disabled={ids.length === 0 || wrong !== undefined}
          onGone={(found) =>
            setText((latest) =>
              idsIn(latest)
                .filter((id) => !found.has(id))
                .join(' '),
            )
          }
          onEnd={setGone}
        />
      </div>
      {gone && (
        <p role="status">
          Deleted {countOf(gone.deleted.length)}
          {gone.missing > 0 && `; ${gone.missing} ${gone.missing === 1 ? 'was' : 'were'} not there`}
        </p>
      )}
    </form>
  );
}

function wordsIn(text: string): string[] {
  return text.split(/[\s,;]+/).filter(Boolean);
}

function idsIn(text: string): bigint[] {
  return wordsIn(text).flatMap((word) => readIdText(word) ?? []);
}
