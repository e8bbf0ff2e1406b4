import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchDatabase } from '../../database/bench-database.ts';
import type { Command } from './run-command.ts';

/** Where the plants of a command come from or go to. */
export type Place = 'full table' | 'empty table' | 'few ids taken' | 'all ids taken' | 'embedded';

export interface BulkCommand {
  readonly title: string;
  readonly place: Place;
  readonly command: Command;
  /** Whether psql must be installed. */
  readonly needsPsql?: boolean;
}

const main = fileURLToPath(new URL('../../../../cli/src/main.ts', import.meta.url));

/** The commands that are compared, in the order of a round. @param directory for files */
export function bulkCommands({ url }: BenchDatabase, directory: string) {
  const file = (name: string) => join(directory, name);
  const cli = (args: readonly string[], env: Record<string, string>): Command => ({
    ...{ program: process.execPath, args: [main, ...args, '--quiet'], env },
  });
  const onPostgres = (args: readonly string[]) => cli(args, { DATABASE_URL: url });
  const embedded = (args: readonly string[]) =>
    cli(args, { PLANT_STORE_DATA_DIR: file('embedded') });
  const psql = (copy: string): Command => ({ program: 'psql', args: ['-q', url, '-c', copy] });
  const columns = 'plants (id, name, tag, created_at)';

  return {
    copyTo: {
      title: 'psql \\copy to, CSV',
      place: 'full table',
      command: psql(`\\copy plants to '${file('psql.csv')}' csv header`),
      needsPsql: true,
    },
    exportCsv: {
      title: 'export, CSV',
      place: 'full table',
      command: {
        ...onPostgres(['export', '--format', 'csv']),
        output: file('plants.csv'),
      },
    },
    exportNdjson: {
      title: 'export, NDJSON',
      place: 'full table',
      command: { ...onPostgres(['export']), output: file('plants.ndjson') },
    },
    copyFrom: {
      title: 'psql \\copy from, CSV',
      place: 'empty table',
      command: psql(`\\copy ${columns} from '${file('plants.csv')}' csv header`),
      needsPsql: true,
    },
    importCsv: {
      title: 'import, CSV',
      place: 'empty table',
      command: onPostgres(['import', file('plants.csv')]),
    },
    importNdjson: {
      title: 'import, NDJSON',
      place: 'empty table',
      command: onPostgres(['import', file('plants.ndjson')]),
    },
    importFewTaken: {
      title: 'import, CSV, 0.1 % of the ids are taken',
      place: 'few ids taken',
      command: onPostgres(['import', file('plants.csv')]),
    },
    importAllTaken: {
      title: 'import, CSV, all ids are taken',
      place: 'all ids taken',
      command: onPostgres(['import', file('plants.csv')]),
    },
    importEmbedded: {
      title: 'import, CSV, embedded database',
      place: 'embedded',
      command: embedded(['import', file('plants.csv')]),
    },
    exportEmbedded: {
      title: 'export, CSV, embedded database',
      place: 'embedded',
      command: { ...embedded(['export', '--format', 'csv']), output: file('embedded.csv') },
    },
  } satisfies Record<string, BulkCommand>;
}

export type BulkName = keyof ReturnType<typeof bulkCommands>;
