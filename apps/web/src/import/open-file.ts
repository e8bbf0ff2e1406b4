import {
  type Advice,
  bytesOf,
  type Columns,
  formatOf,
  type Row,
  type RowBlock,
  readPlants,
  reasonOf,
} from '@plant-store/formats';
import { NewPlant } from '@plant-store/schemas';

/** The extensions of the files that an import can read. */
export const fileTypes = '.csv,.tsv,.ndjson,.jsonl,.gz';

const otherName = 'give the file a name that ends with';
const utf8 = 'save it as UTF-8';

const advice: Advice = {
  csv: `${otherName} .csv`,
  ndjson: `${otherName} .ndjson`,
  delimiter: 'separate the fields by commas',
  latin1: utf8,
  utf16: utf8,
};

export interface OpenOptions {
  /** Whether plants keep the creation times in the file, or get the time of the import. */
  createdAt: 'keep' | 'now';
  /** Says for each property of a plant which column of the file contains the property. */
  columns?: Columns;
  /** Receives the names in the header of a CSV file. */
  onHeader?(names: readonly string[]): void;
  /** Receives a warning about a likely mistake in the file. */
  warn(message: string): void;
}

export interface OpenFile {
  readonly blocks: AsyncGenerator<RowBlock>;
  /** Returns the number of bytes that have been read from the file. */
  bytesRead(): number;
}

/**
 * Opens a file, and reads its first rows. The extension of the file name determines the format.
 *
 * @throws FileError when the file cannot be read as plants
 */
export async function openFile(file: File, given: OpenOptions): Promise<OpenFile> {
  const format = formatOf(file.name, `${otherName} .csv or .ndjson`);
  let bytes = 0;
  async function* counted() {
    for await (const chunk of bytesOf(file.stream())) {
      bytes += chunk.length;
      yield chunk;
    }
  }
  const options = { ...given, advice };
  return { blocks: await readPlants(counted(), format, options), bytesRead: () => bytes };
}

/** A row with its plant, or with the reason why the row contains no valid plant. */
export type CheckedRow = { readonly row: Row } & (
  | { readonly plant: NewPlant; readonly reason?: undefined }
  | { readonly plant?: undefined; readonly reason: string }
);

/** Checks a row with the store's schema for plants. */
export function checkRow(row: Row): CheckedRow {
  if ('error' in row) return { row, reason: row.error };
  const { data: plant, error } = NewPlant.safeParse(row.plant);
  if (plant) return { row, plant };
  const issues = error.issues.map(({ path, message }) => `${path.join('.')} ${message}`.trim());
  return { row, reason: reasonOf(`invalid input: ${issues.join('; ')}`, row.plant) };
}
