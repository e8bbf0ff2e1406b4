import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { explainError } from '../store/explain-error.ts';
import { useTRPC, useTRPCClient } from '../store/trpc.ts';
import { type ImportStep, importFile, type RejectedRow } from './import-file.ts';
import { readRows } from './read-rows.ts';

/** Rejected rows that are shown; further ones are only counted. */
const shownRows = 1_000;

export interface ImportState {
  readonly file: File;
  readonly state: 'running' | 'waiting' | 'done' | 'cancelled' | 'failed';
  readonly bytes: number;
  readonly created: number;
  readonly rejected: number;
  /** The first rejected rows. */
  readonly rejectedRows: readonly RejectedRow[];
  /** Why it failed. */
  readonly reason?: string;
  /** The name of another file that came during the import, and is not added. */
  readonly ignored?: string;
}

/** The import of one file at a time. It goes on while its view is closed. */
export function useImport() {
  const client = useTRPCClient();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [current, setCurrent] = useState<ImportState>();
  const abort = useRef(new AbortController());
  const isRunning = useRef(false);
  useEffect(() => () => abort.current.abort(), []);

  const start = useCallback(
    async (file: File) => {
      const change = (next: (latest: ImportState) => ImportState) =>
        setCurrent((latest) => latest && next(latest));
      if (isRunning.current) return change((latest) => ({ ...latest, ignored: file.name }));
      isRunning.current = true;
      abort.current = new AbortController();
      const { signal } = abort.current;

      setCurrent({ file, state: 'running', bytes: 0, created: 0, rejected: 0, rejectedRows: [] });
      try {
        await importFile({
          client,
          blocks: readRows(file),
          signal,
          onStep: (step) => change((latest) => addStep(latest, step)),
          onWaiting: (isWaiting) =>
            change((latest) => ({ ...latest, state: isWaiting ? 'waiting' : 'running' })),
        });
        change((latest) => ({ ...latest, state: signal.aborted ? 'cancelled' : 'done' }));
      } catch (error) {
        change((latest) => ({ ...latest, state: 'failed', reason: explainError(error) }));
      }
      isRunning.current = false;
      void queryClient.invalidateQueries(trpc.listPlants.queryFilter());
    },
    [client, queryClient, trpc],
  );
  const cancel = useCallback(() => abort.current.abort(), []);
  return { current, start, cancel };
}

function addStep(latest: ImportState, { created, rejected, bytes }: ImportStep): ImportState {
  const room = shownRows - latest.rejectedRows.length;
  const rejectedRows =
    rejected.length > 0 && room > 0
      ? [...latest.rejectedRows, ...rejected.slice(0, room)].sort((a, b) => a.row - b.row)
      : latest.rejectedRows;
  return {
    ...latest,
    bytes: latest.bytes + bytes,
    created: latest.created + created,
    rejected: latest.rejected + rejected.length,
    rejectedRows,
  };
}
