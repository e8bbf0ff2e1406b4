import type { StoredPlant } from '@plant-store/schemas';
import { plantColumns, plantTexts, valuesOf } from './plant-json.ts';

/**
 * An output as text. Postgres writes the values of stored plants as JSON, and the surfaces send this JSON unparsed.
 * Only callers in this process need objects. While a client reads a response, only the text is in memory.
 */
export class OutputText<Output> {
  readonly #text: string | ((quote: string) => string);
  readonly #pathOf: (place: number) => string;

  /**
   * @param text the JSON for REST, or a function that writes the JSON with this quote around each id
   * @param pathOf returns the path of the object that has the nth id of the JSON, such as `plants.0.`
   */
  constructor(text: string | ((quote: string) => string), pathOf = (_place: number) => '') {
    this.#text = text;
    this.#pathOf = pathOf;
  }

  /** The JSON for REST, in which ids are integers. */
  get json(): string {
    return typeof this.#text === 'string' ? this.#text : this.#text('');
  }

  /** The JSON with every property of the output. Ids are texts, because `JSON.parse` would round large ids. */
  protected get whole(): string {
    return typeof this.#text === 'string' ? withTextIds(this.#text) : this.#text('"');
  }

  /**
   * Makes the JSON for tRPC in superjson's format, in which ids are texts. The regular expressions of this
   * file match nothing inside a string, because JSON escapes the quotes of a string.
   */
  superjson(): string {
    const json = this.whole;
    const properties = json.match(typedProperty);
    if (!properties) return `{"json":${json}}`;
    return `{"json":${json},"meta":{"values":{${notesOn(properties, this.#pathOf)}},"v":1}}`;
  }

  /** Returns the output as objects. */
  value(): Output {
    return withTypes(JSON.parse(this.whole));
  }
}

/** A stored plant and its ETag. Over REST, the ETag is a header, so `json` does not contain it. */
export class PlantText extends OutputText<StoredPlant & { etag: string }> {
  readonly etag: string;

  constructor(json: string, etag: string) {
    super(json);
    this.etag = etag;
  }

  protected override get whole(): string {
    return `${super.whole.slice(0, -1)},"etag":"${this.etag}"}`;
  }
}

/** Makes plants from the columns that `plantArrays` selects, and from a last column with their ETags. */
export function plantsOf(columns: readonly (string | null | undefined)[]): PlantText[] {
  const etags = valuesOf(columns.at(-1));
  return plantTexts(columns).map((json, i) => new PlantText(json, (etags[i] ?? '').slice(1, -1)));
}

function withTextIds(json: string): string {
  return json.replace(/"id":(-?\d+)/g, '"id":"$1"');
}

/** The properties of a plant with a type that JSON does not have. */
const typedColumns = plantColumns.filter(({ type }) => type !== 'string');

/** Maps each typed property, such as `"id":`, to the end of its entry in superjson's `meta.values`. */
const notes = new Map(
  typedColumns.map(({ field, type }) => {
    return [`"${field}":`, `${field}":["${type === 'date' ? 'Date' : type}"]`];
  }),
);

const typedProperty = new RegExp([...notes.keys()].join('|'), 'g');

/** The entries of the latest output. The next output usually has the same properties and entries. */
let latest = { key: '', text: '' };

function notesOn(properties: readonly string[], pathOf: (place: number) => string): string {
  const key = pathOf(0) + properties.join('');
  if (key === latest.key) return latest.text;
  let place = -1;
  const texts = properties.map((property) => {
    if (property === '"id":') place += 1;
    return `"${pathOf(place)}${notes.get(property)}`;
  });
  latest = { key, text: texts.join() };
  return latest.text;
}

/** Converts the properties in a parsed value to their types. superjson would take several times longer. */
function withTypes<Value>(value: Value): Value {
  for (const { field, type } of typedColumns) {
    const text: unknown = Object(value)[field];
    if (typeof text !== 'string') continue;
    Object(value)[field] = type === 'bigint' ? BigInt(text) : new Date(text);
  }
  for (const each of Object.values(Object(value))) if (typeof each === 'object') withTypes(each);
  return value;
}
