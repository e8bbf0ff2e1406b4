import type { StoredPlant } from '@plant-store/schemas';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { refreshUnlessLive } from '../../changes/feed-state.ts';
import { Button } from '../../controls/button.tsx';
import { Question } from '../../controls/question.tsx';
import { TextField } from '../../controls/text-field.tsx';
import { ErrorAlert } from '../../store/error-alert.tsx';
import { useTRPCClient } from '../../store/trpc.ts';
import { afterDelete } from '../delete-plant.tsx';
import { countOf } from '../plant-text.tsx';
import { type SelectedPlants, type Selection, without } from '../selected-plants.ts';
import { deletePlants } from './delete-plants.ts';
import './selection-bar.css';

interface SelectionBarProps extends Selection {
  /** Whether the user can undo the delete for a short time. */
  canUndo: boolean;
  onDeleted(plants: readonly StoredPlant[]): void;
}

/** Shows the actions on the selected plants. */
export function SelectionBar({ plants, canUndo, onChange, onDeleted }: SelectionBarProps) {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const running = useRef<AbortController>(undefined);
  const remove = useMutation({
    mutationFn: async (selected: SelectedPlants) => {
      running.current = new AbortController();
      const all: StoredPlant[] = [];
      const onGone: Parameters<typeof deletePlants>[2] = ({ deleted, missing }) => {
        all.push(...deleted.flatMap((id) => selected.get(id) ?? []));
        onChange((latest) => without(latest, new Set([...deleted, ...missing])));
      };
      try {
        await deletePlants(client, [...selected.keys()], onGone, running.current.signal);
      } finally {
        if (all.length > 0) onDeleted(all);
      }
    },
    onSettled: () => refreshUnlessLive(queryClient),
  });
  if (plants.size === 0) return null;
  return (
    <section className="selection" aria-label="Selected plants">
      <strong role="status">
        {remove.isPending
          ? `Deleting: ${countOf(plants.size)} left`
          : `${countOf(plants.size)} selected`}
      </strong>
      <Button kind="danger-plain" disabled={remove.isPending} onClick={() => setIsAsking(true)}>
        Delete …
      </Button>
      {remove.isPending ? (
        <Button onClick={() => running.current?.abort()}>Stop</Button>
      ) : (
        <Button onClick={() => onChange(() => new Map())}>Clear</Button>
      )}
      <ErrorAlert start={`${countOf(plants.size)} not deleted.`} error={remove.error} />
      <DeleteQuestion
        count={plants.size}
        canUndo={canUndo}
        isOpen={isAsking}
        onConfirm={() => {
          setIsAsking(false);
          remove.mutate(plants);
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
  canUndo: boolean;
  isOpen: boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks before plants are deleted. */
export function DeleteQuestion({ count, canUndo, onCancel, ...rest }: DeleteQuestionProps) {
  const [typed, setTyped] = useState('');
  const mustType = count > mostWithoutTyping;
  const isConfirmed = !mustType || typed.replaceAll(/\D/g, '') === String(count);
  return (
    <Question
      title={`Delete ${countOf(count)}?`}
      text={afterDelete(count, canUndo)}
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
