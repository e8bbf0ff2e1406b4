import type { StoredPlant } from '@plant-store/schemas';
import { plantColumns, plantTexts, valuesOf } from './plant-json.ts';

/**
 * An output as text: Postgres writes the values of plants as JSON, and the surfaces send this JSON without parsing
 * it. Only callers in this process need objects. While a client reads an output, only its text is in memory.
 */
export class OutputText<Output> {
  /** The JSON for REST, in which ids are integers. */
  readonly json: string;
  readonly #pathOf: (place: number) => string;

  /** @param pathOf returns the path of the object that has the nth id, such as `plants.0.` */
  constructor(json: string, pathOf = (_place: number) => '') {
    this.json = json;
    this.#pathOf = pathOf;
  }

  /** The JSON with every property of the output. */
  protected get whole(): string {
    return this.json;
  }

  /**
   * Makes the JSON for tRPC in superjson's format, in which ids are texts. The regular expressions of this file
   * match nothing inside a text, because JSON escapes the quotes there.
   */
  superjson(): string {
    const properties = this.whole.match(typedProperty);
    if (!properties) return `{"json":${this.whole}}`;
    const types = notesOn(properties, this.#pathOf);
    return `{"json":${withTextIds(this.whole)},"meta":{"values":{${types}},"v":1}}`;
  }

  /** Returns the output as objects. */
  value(): Output {
    return withTypes(JSON.parse(withTextIds(this.whole)));
  }
}

/** A stored plant and its ETag. Over REST, the ETag is a header, and not a part of the JSON. */
export class PlantText extends OutputText<StoredPlant & { etag: string }> {
  readonly etag: string;

  constructor(json: string, etag: string) {
    super(json);
    this.etag = etag;
  }

  protected override get whole(): string {
    return `${this.json.slice(0, -1)},"etag":"${this.etag}"}`;
  }
}

/** Makes plants from the columns that `plantArrays` selects. The last column has their ETags. */
export function plantsOf(columns: readonly (string | null | undefined)[]): PlantText[] {
  const etags = valuesOf(columns.at(-1));
  return plantTexts(columns).map((json, i) => new PlantText(json, (etags[i] ?? '').slice(1, -1)));
}

/** Writes the ids as texts, because `JSON.parse` would round large ids. */
function withTextIds(json: string): string {
  return json.replace(/"id":(-?\d+)/g, '"id":"$1"');
}

/** The properties of plants whose type JSON lacks. */
const typedColumns = plantColumns.filter(({ type }) => type !== 'string');

/** For each of these properties, such as `"id":`, the end of the note by which superjson marks its type. */
const notes = new Map(
  typedColumns.map(({ field, type }) => {
    return [`"${field}":`, `${field}":["${type === 'date' ? 'Date' : type}"]`];
  }),
);

const typedProperty = new RegExp([...notes.keys()].join('|'), 'g');

/** The latest notes. Most pages have the same properties as the page before, and then the same notes. */
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

/** Gives the properties in a parsed value their types. superjson would take several times longer. */
function withTypes<Value>(value: Value): Value {
  for (const { field, type } of typedColumns) {
    const text: unknown = Object(value)[field];
    if (typeof text !== 'string') continue;
    Object(value)[field] = type === 'bigint' ? BigInt(text) : new Date(text);
  }
  for (const each of Object.values(Object(value))) if (typeof each === 'object') withTypes(each);
  return value;
}
