import { readIdText } from '@plant-store/schemas/plain';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../../controls/button.tsx';
import { TextField } from '../../controls/text-field.tsx';
import { ErrorAlert } from '../../store/error-alert.tsx';
import { useTRPCClient } from '../../store/trpc.ts';
import { countOf } from '../plant-text.tsx';
import { deletePlants } from './delete-plants.ts';
import { DeleteQuestion } from './selection-bar.tsx';

/** Deletes plants by their ids, for a token that may not read plants. */
export function DeleteById() {
  const client = useTRPCClient();
  const [text, setText] = useState('');
  const [isAsking, setIsAsking] = useState(false);
  const [gone, setGone] = useState({ deleted: 0, missing: 0 });
  const remove = useMutation({
    mutationFn: (ids: readonly bigint[]) =>
      deletePlants(client, ids, ({ deleted, missing }) =>
        setGone((latest) => ({
          deleted: latest.deleted + deleted.length,
          missing: latest.missing + missing.length,
        })),
      ),
    onSuccess: () => setText(''),
  });

  const words = text.split(/[\s,;]+/).filter(Boolean);
  const ids = words.flatMap((word) => readIdText(word) ?? []);
  const wrong = words.find((word) => readIdText(word) === undefined);
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (ids.length > 0 && wrong === undefined) setIsAsking(true);
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
      <div className="sheet-actions">
        <Button kind="danger" type="submit" disabled={remove.isPending}>
          Delete …
        </Button>
      </div>
      <ErrorAlert error={remove.error} />
      {remove.submittedAt > 0 && (
        <p role="status">
          Deleted {countOf(gone.deleted)}
          {gone.missing > 0 && `; ${gone.missing} ${gone.missing === 1 ? 'was' : 'were'} not there`}
        </p>
      )}
      <DeleteQuestion
        count={ids.length}
        canUndo={false}
        isOpen={isAsking}
        onConfirm={() => {
          setIsAsking(false);
          setGone({ deleted: 0, missing: 0 });
          remove.mutate(ids);
        }}
        onCancel={() => setIsAsking(false)}
      />
    </form>
  );
}
