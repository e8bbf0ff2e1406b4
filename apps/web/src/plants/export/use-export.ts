import { createPlantWriter, type FormatName } from '@plant-store/formats';
import { useMutation } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { PlantFilter } from '../../address/address.ts';
import { openSaveFile } from '../../controls/save-file.ts';
import { useTRPCClient } from '../../store/trpc.ts';
import { allPages } from '../list-page.ts';

interface ExportOptions {
  format: FormatName | 'spreadsheet';
  filter: PlantFilter;
}

export type Export = ReturnType<typeof useExport>;

/**
 * Loads one page of plants after another, and saves the plants as a file. The export goes on while the user
 * does other things. During the export, the browser asks before the user leaves the page.
 */
export function useExport() {
  const client = useTRPCClient();
  const [count, setCount] = useState(0);
  /** The controller that stops the running export, or undefined when no export runs. */
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const { mutate, reset, status, error, variables } = useMutation({
    async mutationFn({ format, filter }: ExportOptions) {
      const controller = new AbortController();
      const { signal } = controller;
      running.current = controller;
      setCount(0);
      const { header, row } = createPlantWriter(format);
      try {
        const file = await openSaveFile(fileName({ format, filter }), signal);
        await file.write(header);
        for await (const plants of allPages(client, filter, signal)) {
          await file.write(plants.map(row).join(''));
          setCount((latest) => latest + plants.length);
        }
        await file.close();
      } catch (error) {
        controller.abort(error); // Aborting the signal discards the file.
        throw signal.reason;
      } finally {
        running.current = undefined;
      }
    },
  });
  const isRunning = status === 'pending';
  useEffect(() => {
    if (!isRunning) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [isRunning]);
  const isCancelled = error instanceof DOMException && error.name === 'AbortError';
  return {
    state: isCancelled ? 'cancelled' : status,
    isRunning,
    error,
    /** The options of the running export, or of the latest export. */
    options: variables,
    /** The number of plants that have been written. */
    count,
    start: mutate,
    cancel: () => running.current?.abort(),
    /** Forgets the result of the latest export. While an export runs, the function does nothing. */
    forget: useCallback(() => void (running.current ?? reset()), [reset]),
  } as const;
}

/** Makes a file name from the filter and the date, such as `plants Araceae 2026-11-30.csv`. */
function fileName({ format, filter: { tag, search } }: ExportOptions): string {
  const parts = ['plants', tag, search, new Date().toISOString().slice(0, 10)];
  const name = parts.filter(Boolean).join(' ').slice(0, 100).toWellFormed();
  const extension = format === 'ndjson' ? 'ndjson' : 'csv';
  return `${name.replaceAll(/[\p{Control}\p{Format}<>:"/\\|?*]/gu, '_')}.${extension}`;
}
