import type { Columns } from '@plant-store/formats';
import { plantColumns } from '@plant-store/schemas/plain';
import { sharedState } from '../controls/shared-state.ts';
import { explainError } from '../store/explain-error.ts';
import type { Client, Connection } from './create-plants.ts';
import { type FileImport, isActive, isStarted, withStep } from './file-import.ts';
import type { importFile } from './import-file.ts';
import type { readPreview } from './import-preview.ts';
import { nothingCounted } from './import-step.ts';
import type { openFile } from './open-file.ts';

/** Functions that read files and send plants, from the script that the console loads after the list. */
interface ImportFunctions {
  readonly openFile: typeof openFile;
  readonly readPreview: typeof readPreview;
  readonly importFile: typeof importFile;
}

interface Access {
  readonly client: Client;
  onTokenError(error: unknown): void;
  /** Runs after each import. */
  onEnd(): void;
}

export type Imports = ReturnType<typeof createImports>;

/**
 * Runs the imports of this tab, one after the other. An import goes on while the user does other things, and
 * after the user enters another token. During an import, the browser asks before the user leaves the page.
 */
export function createImports(load: () => Promise<ImportFunctions>) {
  const list = sharedState<readonly FileImport[]>([]);
  let access = Promise.withResolvers<Access>();
  let current: Access | undefined;
  let cancelling = new AbortController();
  let isRunning = false;
  let chosenFiles = 0;

  function set(next: readonly FileImport[]): void {
    const listen = next.some(isActive) ? addEventListener : removeEventListener;
    listen('beforeunload', askBeforeLeaving);
    list.set(next);
  }
  function change(file: File, next: (latest: FileImport) => Partial<FileImport>): void {
    set(list.get().map((each) => (each.file === file ? { ...each, ...next(each) } : each)));
  }

  async function preview(file: File, columns: Columns): Promise<void> {
    const onHeader = (header: readonly string[]) => change(file, () => ({ columns, header }));
    try {
      const { readPreview } = await load();
      const preview = await readPreview(file, { columns, onHeader });
      change(file, () => ({ preview, reason: undefined, state: 'chosen' }));
    } catch (error) {
      change(file, ({ reason = explainError(error) }) => ({ state: 'failed', reason }));
    }
  }

  async function runQueued(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (let next = queued(); next; next = queued()) await run(next);
    isRunning = false;
  }
  const queued = () => list.get().find(({ state }) => state === 'queued');

  async function run({ file, columns }: FileImport): Promise<void> {
    cancelling = new AbortController();
    const { signal } = cancelling;
    change(file, () => ({ state: 'running' }));
    const startedAt = performance.now();
    try {
      const warn = (message: string) =>
        change(file, ({ warnings }) => ({ warnings: [...warnings, message] }));
      const { openFile, importFile } = await load();
      const opened = await openFile(file, { createdAt: 'now', columns, warn });
      await importFile(opened, {
        connection: connectionFor(file),
        signal,
        onStep: (step) =>
          change(file, (latest) => {
            const seconds = (performance.now() - startedAt) / 1_000;
            const rowsPerSecond = (latest.counts.rows + step.counts.rows) / seconds;
            return { ...withStep(latest, step), rowsPerSecond };
          }),
      });
      change(file, () => ({ state: signal.aborted ? 'cancelled' : 'done' }));
    } catch (error) {
      change(file, () => ({ state: 'failed', reason: explainError(error) }));
    }
    current?.onEnd();
  }

  function connectionFor(file: File): Connection {
    let waiting = 0;
    return {
      client: async () => (await access.promise).client,
      onTokenError(client, error) {
        if (current?.client !== client) return;
        const { onTokenError } = current;
        disconnect();
        onTokenError(error);
      },
      onWaiting(isWaiting) {
        waiting += isWaiting ? 1 : -1;
        const state = waiting > 0 ? 'waiting' : 'running';
        change(file, (latest) => (isStarted(latest) ? { state } : {}));
      },
    };
  }

  function disconnect(): void {
    current = undefined;
    access = Promise.withResolvers();
  }

  return {
    /** All imports of this tab, with the latest import first. */
    list,
    /** Sets the client that sends all later requests. */
    connect(next: Access): void {
      if (current) disconnect();
      current = next;
      access.resolve(next);
    },
    /** Reads the previews of the chosen files. `start` adds the plants of these files. */
    choose(files: readonly File[]): void {
      const chosen = files.map((file): FileImport => {
        const nothing = { bytes: 0, counts: nothingCounted };
        const lists = { warnings: [], rejectedRows: [], rejects: [], header: [] };
        const columns = plantColumns;
        return { id: ++chosenFiles, file, state: 'opening', columns, ...nothing, ...lists };
      });
      set([...chosen, ...list.get()]);
      for (const file of files) void preview(file, plantColumns);
    },
    /** Chooses the column of a file for a property of plants, and reads the preview again. */
    chooseColumn({ file, columns }: FileImport, field: string, name: string): void {
      const column = columns[field];
      if (column) void preview(file, { ...columns, [field]: { ...column, name } });
    },
    /** Adds the plants of the chosen files. */
    start(): void {
      set(
        list.get().map((each) => (each.state === 'chosen' ? { ...each, state: 'queued' } : each)),
      );
      void runQueued();
    },
    /** Stops the import of a file if the import has started. Otherwise, removes the file from the list. */
    remove(file: File): void {
      const found = list.get().find((each) => each.file === file);
      if (found && isStarted(found)) cancelling.abort();
      else set(list.get().filter((each) => each !== found));
    },
    /** Stops all imports. */
    stop(): void {
      set(list.get().filter(({ state }) => state !== 'queued'));
      cancelling.abort();
    },
  };
}

function askBeforeLeaving(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
