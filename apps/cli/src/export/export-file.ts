import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  type ExportColumn,
  type ExportQuery,
  type PlantStore,
  PlantStoreError,
} from '@plant-store/core';
import { createNdjsonConverter, type FormatName } from '@plant-store/formats';
import {
  type Interruption,
  limitMemory,
  listenForInterruption,
} from '../command-line/bulk-command.ts';
import { exitWhenOutputCloses } from '../command-line/closed-output.ts';
import { CommandError } from '../command-line/errors.ts';
import { noProgress, showProgress } from '../command-line/progress-bar.ts';
import { withStore } from '../command-line/with-store.ts';

export interface ExportOptions extends Pick<ExportQuery, 'since' | 'tag'> {
  format: FormatName;
  /** Compresses the output. */
  gzip?: true;
  columns: ExportColumn[];
  /** Reads pages instead of one snapshot. */
  paged?: true;
  /** Shows no progress. */
  quiet?: true;
}

/**
 * Writes plants to standard output. Shows the progress on a terminal.
 *
 * @throws CommandError when the export stops early and the output is incomplete
 */
export async function exportFile(options: ExportOptions): Promise<void> {
  limitMemory();
  await exitWhenOutputCloses();
  const interruption = listenForInterruption(interrupted);
  try {
    await withStore((store) => writePlants(store, options, interruption.signal), {
      readOnly: true,
      needs: { plants: ['SELECT'] },
    });
  } catch (error) {
    // The code EPIPE means that the reader has closed the pipe, as in `plant-store export | head`.
    if (codeOf(error) !== 'EPIPE') throw explained(error, interruption);
  }
}

async function writePlants(store: PlantStore, options: ExportOptions, signal: AbortSignal) {
  const { tag, since, paged, gzip, quiet, columns } = options;
  const format = exportFormats[options.format];
  const { estimate, rows, close } = await store.export({
    ...{ tag, since, columns, isPaged: paged, format: format.source },
  });
  const convert = format.createConverter(columns);
  const isSeen = process.stderr.isTTY && !process.stdout.isTTY && !quiet;
  const { progress, count } = isSeen
    ? showExport(estimate, format.source)
    : { progress: noProgress, count() {} };

  async function* output() {
    yield Buffer.from(format.header(columns));
    for await (const block of rows) {
      count(block);
      progress.update();
      yield convert(block);
    }
  }

  const end = { end: false, signal };
  try {
    if (gzip) await pipeline(output, createGzip(), process.stdout, end);
    else await pipeline(output, process.stdout, end);
  } finally {
    progress.stop();
    await close();
  }
}

interface ExportFormat {
  /** The text before the first plant. */
  header(columns: readonly ExportColumn[]): string;
  /** The format of the store's output, which the converter reads. */
  source: NonNullable<ExportQuery['format']>;
  /** Makes a function that converts the output of the store. */
  createConverter(columns: readonly ExportColumn[]): (block: Uint8Array) => Uint8Array;
}

/** The conversions from the output of the store to a file. CSV stays as Postgres writes it. */
const exportFormats: Readonly<Record<FormatName, ExportFormat>> = {
  ndjson: { header: () => '', source: 'text', createConverter: createNdjsonConverter },
  csv: {
    header: (columns) => `${columns.join(',')}\n`,
    source: 'csv',
    createConverter: () => (block) => block,
  },
};

/** Shows the number of rows so far. In CSV, a newline in quotes does not end a row. */
function showExport(total: number | undefined, format: 'csv' | 'text') {
  let passed = 0;
  let isInQuotes = false;
  const rows = () => passed;
  return {
    progress: showProgress({ total, value: rows, rows }),
    count(block: Uint8Array) {
      for (const byte of block) {
        if (byte === newline && !isInQuotes) passed++;
        else if (byte === quote && format === 'csv') isInQuotes = !isInQuotes;
      }
    },
  };
}

const [newline, quote] = [0x0a, 0x22] as const;

const incomplete = 'the output is incomplete';
const interrupted = `interrupted: ${incomplete}`;

function explained(cause: unknown, { exitCode }: Interruption): unknown {
  if (exitCode) return new CommandError(interrupted, { exitCode });
  if (cause instanceof CommandError && cause.cause instanceof PlantStoreError) {
    return new CommandError(`${cause.message}; ${incomplete}`, { cause: cause.cause });
  }
  if (codeOf(cause) === 'ENOSPC') {
    const message = `the disk of the output is full: ${incomplete}, so free some room and run the export again`;
    return new CommandError(message, { cause });
  }
  return cause;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
