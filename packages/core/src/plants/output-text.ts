import type { StoredPlant } from '@plant-store/schemas';
import { plantColumns, plantTexts, valuesOf } from './plant-json.ts';

/** JSON with integers as ids, or a function that writes the JSON with this quote around each id. */
type Json = string | ((quote: string) => string);

/**
 * An output as text. Postgres writes the values of stored plants as JSON, and the surfaces send this JSON unparsed.
 * Only callers in this process need objects. While a client reads a response, only the text is in memory.
 */
export class OutputText<Output> {
  readonly #json: Json;
  readonly #pathOf: (place: number) => string;
  readonly #shape: (() => string) | undefined;

  /**
   * @param pathOf returns the path of the object that has the nth id of the JSON, such as `plants.0.`
   * @param shape returns a text that is the same for outputs with the same entries in superjson's `meta`
   */
  constructor(json: Json, pathOf = (_place: number) => '', shape?: () => string) {
    this.#json = json;
    this.#pathOf = pathOf;
    this.#shape = shape;
  }

  /** The JSON for REST, in which ids are integers. */
  get json(): string {
    return typeof this.#json === 'string' ? this.#json : this.#json('');
  }

  /** The JSON with every property of the output. Ids are texts, because `JSON.parse` would round large ids. */
  protected get whole(): string {
    if (typeof this.#json !== 'string') return this.#json('"');
    return this.#json.replace(/"id":(-?\d+)/g, '"id":"$1"');
  }

  /**
   * Makes the JSON for tRPC in superjson's format, in which ids are texts. The regular expressions of this
   * file match nothing inside a string, because JSON escapes the quotes of a string.
   */
  superjson(): string {
    const json = this.whole;
    const shape = this.#shape?.();
    let { entries } = latest;
    if (shape === undefined || shape !== latest.shape) {
      let place = -1;
      const found = json.match(typedProperty)?.map((property) => {
        if (property === '"id":') place += 1;
        return `"${this.#pathOf(place)}${property.slice(1)}["${typeNames.get(property)}"]`;
      });
      entries = found?.join() ?? '';
      if (shape !== undefined) latest = { shape, entries };
    }
    const meta = entries && `,"meta":{"values":{${entries}},"v":1}`;
    return `{"json":${json}${meta}}`;
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

/** The properties of a plant with a type that JSON does not have. */
const typedColumns = plantColumns.filter(({ type }) => type !== 'string');

/** The types of these properties in superjson's `meta.values`. */
const typeNames = new Map(
  typedColumns.map(({ field, type }) => [`"${field}":`, type === 'date' ? 'Date' : type]),
);

const typedProperty = new RegExp([...typeNames.keys()].join('|'), 'g');

/** The entries of `meta.values` in the latest page. The next page usually has the same shape. */
let latest = { shape: '', entries: '' };

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
