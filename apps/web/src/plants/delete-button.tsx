import { plantStoreError } from '@plant-store/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { refreshUnlessLive } from '../changes/feed-state.ts';
import { Button } from '../controls/button.tsx';
import { Question } from '../controls/question.tsx';
import { ErrorAlert } from '../store/error-alert.tsx';
import { useTRPCClient } from '../store/trpc.ts';
import { countOf, PlantText } from './plant-text.tsx';

/** To delete more than this number of plants, the user must type the number of plants. */
const mostWithoutTyping = 1_000;

/** The console deletes this number of plants in parallel. The client puts ten deletes into one request. */
const atOnce = 50;

interface DeleteButtonProps<Plant> {
  /** The plants to delete, with their ids as keys. */
  plants: ReadonlyMap<bigint, Plant>;
  /** The name of a single plant. Without a name, the question contains the number of plants. */
  name?: string;
  /** Whether the user can undo the delete for a short time. */
  canUndo: boolean;
  disabled?: boolean;
  /** The key with which other views find the running delete. */
  mutationKey?: readonly string[];
  /** Runs after each group of deletes, with the ids of deleted and missing plants. */
  onGone?(ids: ReadonlySet<bigint>): void;
  /** Runs at the end, even after an error. `missing` counts the plants that the store did not have. */
  onEnd(result: { deleted: readonly Plant[]; missing: number }): void;
}

/** Deletes plants after the user has confirmed the delete. The user can stop the delete of many plants. */
export function DeleteButton<Plant>(props: DeleteButtonProps<Plant>) {
  const { plants, name, canUndo, disabled = false, mutationKey = [], onGone, onEnd } = props;
  const { deletePlant } = useTRPCClient();
  const queryClient = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  /** The number of plants that the latest delete has not deleted. */
  const [left, setLeft] = useState(0);
  const running = useRef<AbortController>(undefined);
  // Without the token, the page must not delete further plants.
  useEffect(() => () => running.current?.abort(), []);
  const remove = useMutation({
    mutationKey,
    async mutationFn(asked: ReadonlyMap<bigint, Plant>) {
      const controller = new AbortController();
      running.current = controller;
      const rest = [...asked];
      const deleted: Plant[] = [];
      let missing = 0;
      setLeft(asked.size);
      try {
        while (rest.length > 0 && !controller.signal.aborted) {
          const group = rest.splice(0, atOnce);
          const results = await Promise.allSettled(group.map(([id]) => deletePlant.mutate({ id })));
          const errors = results.map((result): unknown => 'reason' in result && result.reason);
          const gone = group.filter((_, i) => !errors[i] || isMissing(errors[i]));
          deleted.push(...group.flatMap(([, plant], i) => (errors[i] ? [] : [plant])));
          missing += errors.filter(isMissing).length;
          setLeft(asked.size - deleted.length - missing);
          onGone?.(new Set(gone.map(([id]) => id)));
          const failed = errors.find((error) => error && !isMissing(error));
          if (failed) throw failed;
        }
      } finally {
        onEnd({ deleted, missing });
      }
    },
    onSettled: () => refreshUnlessLive(queryClient),
  });
  const { size } = plants;
  const mustType = size > mostWithoutTyping;
  const isLong = remove.isPending && remove.variables.size > 1;
  return (
    <>
      {isLong && <strong role="status">Deleting: {countOf(left)} left</strong>}
      <Button
        kind="danger-plain"
        disabled={disabled || remove.isPending}
        onClick={() => setIsAsking(true)}
      >
        Delete …
      </Button>
      {isLong && <Button onClick={() => running.current?.abort()}>Stop</Button>}
      <ErrorAlert start={`${countOf(left)} not deleted.`} error={remove.error} />
      {isAsking && (
        <Question
          title={
            name === undefined ? (
              `Delete ${countOf(size)}?`
            ) : (
              <>
                Delete “<PlantText text={name} />
                ”?
              </>
            )
          }
          text={afterDelete(size, canUndo)}
          confirm={name === undefined ? `Delete ${countOf(size)}` : 'Delete'}
          field={mustType && { label: 'Number of plants to delete', inputMode: 'numeric' }}
          isConfirmed={(typed) => !mustType || typed.replaceAll(/\D/g, '') === String(size)}
          onConfirm={() => {
            setIsAsking(false);
            remove.mutate(plants);
          }}
          onCancel={() => setIsAsking(false)}
        />
      )}
    </>
  );
}

/** If an earlier attempt deleted the plant, but the response was lost, the plant counts as missing. */
function isMissing(error: unknown): boolean {
  return plantStoreError(error)?.kind === 'plantUnknown';
}

/** Says whether the user can undo the delete. */
function afterDelete(count: number, canUndo: boolean): string {
  if (count === 1) {
    return canUndo
      ? 'You can undo this for ten seconds. The plant then gets a new time of creation.'
      : 'The plant is deleted for good.';
  }
  return canUndo
    ? 'You can undo this for ten seconds. The plants then get new times of creation.'
    : 'The plants are deleted for good.';
}
