import type { StoredPlant } from '@plant-store/schemas';
import superjson from 'superjson';
import { plantColumns, plantTexts, valuesOf } from './plant-json.ts';

/**
 * An output as text. Postgres writes the JSON of plants, and the surfaces send the text unchanged. Only callers
 * in this process need objects. An output keeps only its text in memory while a client reads it.
 */
export class OutputText<Output> {
  /** The JSON for REST, in which ids are integers. */
  readonly json: string;
  readonly #pathOf: (place: number) => string;

  /** @param pathOf returns the path of the object with the id at a place, such as `plants.0.` */
  constructor(json: string, pathOf = (_place: number) => '') {
    this.json = json;
    this.#pathOf = pathOf;
  }

  /** Makes the JSON for tRPC in superjson's format, in which ids are texts. */
  superjson(): string {
    return toSuperjson(this.json, this.#pathOf);
  }

  /** Makes the objects. */
  value(): Output {
    return superjson.deserialize(JSON.parse(this.superjson()));
  }
}

/** A stored plant and its ETag. Over REST, the ETag is a header, and not a part of the JSON. */
export class PlantText extends OutputText<StoredPlant & { etag: string }> {
  readonly etag: string;

  constructor(json: string, etag: string) {
    super(json);
    this.etag = etag;
  }

  override superjson(): string {
    return toSuperjson(`${this.json.slice(0, -1)},"etag":"${this.etag}"}`, () => '');
  }
}

/** Makes plants from the columns that `plantArrays` selects. The last column has their ETags. */
export function plantsOf(columns: readonly (string | null | undefined)[]): PlantText[] {
  const etags = valuesOf(columns.at(-1));
  return plantTexts(columns).map((json, i) => new PlantText(json, (etags[i] ?? '').slice(1, -1)));
}

/**
 * Writes the ids as texts, because `JSON.parse` would round large ids, and adds superjson's notes about types.
 * The expressions match nothing inside a text, because JSON escapes the quotes there.
 */
function toSuperjson(json: string, pathOf: (place: number) => string): string {
  let place = -1;
  const types = (json.match(typedProperty) ?? []).map((property) => {
    if (property === '"id":') place += 1;
    return `"${pathOf(place)}${notes.get(property)}`;
  });
  if (types.length === 0) return `{"json":${json}}`;
  const withTextIds = json.replace(/"id":(-?\d+)/g, '"id":"$1"');
  return `{"json":${withTextIds},"meta":{"values":{${types}},"v":1}}`;
}

/** For each property of plants whose type JSON lacks, such as `"id":`, the rest of superjson's note. */
const notes = new Map(
  plantColumns
    .filter(({ type }) => type !== 'string')
    .map(({ field, type }) => {
      return [`"${field}":`, `${field}":["${type === 'date' ? 'Date' : type}"]`];
    }),
);

const typedProperty = new RegExp([...notes.keys()].join('|'), 'g');
