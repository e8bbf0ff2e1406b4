import type { ExportColumn, ExportQuery } from '@plant-store/core';
import { createNdjsonConverter, type FormatName } from '@plant-store/formats';

interface ExportFormat {
  /** The text before the first plant. */
  header(columns: readonly ExportColumn[]): string;
  /** The format in which the store exports plants for this one. */
  source: NonNullable<ExportQuery['format']>;
  /** Makes a function that converts what the store exports. */
  createConverter(columns: readonly ExportColumn[]): (block: Uint8Array) => Uint8Array;
}

/** How the rows of the store become a file. CSV is as Postgres writes it. */
export const exportFormats: Readonly<Record<FormatName, ExportFormat>> = {
  ndjson: { header: () => '', source: 'text', createConverter: createNdjsonConverter },
  csv: {
    header: (columns) => `${columns.join(',')}\n`,
    source: 'csv',
    createConverter: () => (block) => block,
  },
};
