import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { refreshUnlessLive } from '../../changes/feed-state.ts';
import { Button } from '../../controls/button.tsx';
import { Question } from '../../controls/question.tsx';
import { TextField } from '../../controls/text-field.tsx';
import { ErrorAlert } from '../../store/error-alert.tsx';
import { useTRPCClient } from '../../store/trpc.ts';
import { countOf } from '../plant-text.tsx';
import { deletePlants } from './delete-plants.ts';
import './selection-bar.css';

interface SelectionBarProps {
  ids: ReadonlySet<bigint>;
  onChange(change: (latest: ReadonlySet<bigint>) => ReadonlySet<bigint>): void;
  onDeleted(count: number): void;
}

/** Shows the actions on the selected plants. */
export function SelectionBar({ ids, onChange, onDeleted }: SelectionBarProps) {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const running = useRef<AbortController>(undefined);
  const remove = useMutation({
    mutationFn: async (selected: readonly bigint[]) => {
      running.current = new AbortController();
      let count = 0;
      const onGone: Parameters<typeof deletePlants>[2] = ({ deleted, missing }) => {
        const gone = new Set([...deleted, ...missing]);
        count += gone.size;
        onChange((latest) => latest.difference(gone));
      };
      await deletePlants(client, selected, onGone, running.current.signal);
      return count;
    },
    onSuccess: onDeleted,
    onSettled: () => refreshUnlessLive(queryClient),
  });
  if (ids.size === 0) return null;
  return (
    <section className="selection" aria-label="Selected plants">
      <strong role="status">
        {remove.isPending ? `Deleting: ${countOf(ids.size)} left` : `${countOf(ids.size)} selected`}
      </strong>
      <Button kind="danger-plain" disabled={remove.isPending} onClick={() => setIsAsking(true)}>
        Delete …
      </Button>
      {remove.isPending ? (
        <Button onClick={() => running.current?.abort()}>Stop</Button>
      ) : (
        <Button onClick={() => onChange(() => new Set())}>Clear</Button>
      )}
      <ErrorAlert start={`${countOf(ids.size)} not deleted.`} error={remove.error} />
      <DeleteQuestion
        count={ids.size}
        isOpen={isAsking}
        onConfirm={() => {
          setIsAsking(false);
          remove.mutate([...ids]);
        }}
        onCancel={() => setIsAsking(false)}
      />
    </section>
  );
}

/** To delete more than this number of plants, the user must type the number of selected plants. */
const mostWithoutTyping = 1_000;

interface DeleteQuestionProps {
  count: number;
  isOpen: boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks before plants are deleted. */
export function DeleteQuestion({ count, onCancel, ...rest }: DeleteQuestionProps) {
  const [typed, setTyped] = useState('');
  const mustType = count > mostWithoutTyping;
  const isConfirmed = !mustType || typed.replaceAll(/\D/g, '') === String(count);
  return (
    <Question
      title={`Delete ${countOf(count)}?`}
      text={
        count === 1
          ? 'The plant is deleted for good. The id is free afterwards.'
          : 'The plants are deleted for good. The ids are free afterwards.'
      }
      confirm={`Delete ${countOf(count)}`}
      isConfirmed={isConfirmed}
      onCancel={() => {
        setTyped('');
        onCancel();
      }}
      {...rest}
    >
      {mustType && (
        <TextField
          label="Number of plants to delete"
          inputMode="numeric"
          value={typed}
          onChange={setTyped}
        />
      )}
    </Question>
  );
}
