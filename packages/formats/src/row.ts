import { IdFromText, NewPlant, parseJson, shorten } from '@plant-store/schemas';

/** A row of a file: a valid plant, or an error that says why the plant is not valid. */
export type Row = {
  /** The number of the first line, from 1. */
  readonly line: number;
  /** The number of the last line, which differs from `line` when a quoted field has line breaks. */
  readonly lastLine: number;
  /** The text of the row in the file, without the last line end. */
  readonly text: string;
} & (
  | { readonly plant: NewPlant; readonly error?: undefined }
  | { readonly plant?: undefined; readonly error: string }
);

/** The content of a text. `open`: the row continues in the next line. `fault`: the end of the row is uncertain. */
export type Content = { plant: NewPlant } | { error: string } | 'blank' | 'open' | 'fault';

type Schema = Pick<typeof NewPlant, 'safeParse'>;

/** The schema of the API for a plant whose id is text. The type does not name zod, which is not a dependency here. */
export const TextPlant: Schema = NewPlant.extend({ id: IdFromText });

/** Checks a plant by a schema of the API. The error has the messages of the API, and quotes an id that is text. */
export function checkPlant(schema: Schema, value: unknown) {
  const { data: plant, error } = schema.safeParse(value);
  if (plant) return { plant };
  const messages = error.issues.map(({ path: [field = ''], message }) => {
    const id = field === 'id' && Object(value).id;
    return `${String(field)} ${message}${typeof id === 'string' ? shownId(id) : ''}`.trim();
  });
  return { error: messages.join('; ') };
}

function shownId(id: string): string {
  const isRounded = /^-?\d[.,]\d+E\+\d+$/i.test(id);
  const hint = isRounded ? ' (a spreadsheet rounded it: format the column as text)' : '';
  return `: ${JSON.stringify(shorten(id, 40))}${hint}`;
}

/** Reads a line of NDJSON, which is like the body of a request that creates a plant. */
export function readJsonLine(text: string, notes: Set<string>): Content {
  if (text.trim() === '') return 'blank';
  try {
    const value = parseJson(text);
    const content = checkPlant(NewPlant, value);
    const names = content.plant ? Object.keys(Object(value)) : [];
    for (const name of names) if (!(name in NewPlant.shape)) leaveOut(name, notes);
    return content;
  } catch (error) {
    if (error instanceof RangeError) return { error: 'has too many levels' };
    if (!(error instanceof SyntaxError)) throw error;
    return { error: `is not JSON: ${error.message}` };
  }
}

/** Notes that a column or a property is left out. Even a file with many properties has few notes. */
export function leaveOut(name: string, notes: Set<string>): void {
  const note = `${JSON.stringify(shorten(name, 40))} is left out: a file sets id, name and tag.`;
  if (notes.size < 10) notes.add(note);
}
