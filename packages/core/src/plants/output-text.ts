import type {
  CreateResult,
  CreateResults,
  PlantChange,
  PlantChanges,
  PlantPage,
  StoredPlant,
} from '@plant-store/schemas';
import { parsePlant, typedFields, withTextId } from './plant-json.ts';

/**
 * An output as text. Postgres writes the JSON of plants, and the surfaces send the text unchanged. Only callers
 * in this process need objects.
 */
export class OutputText<Output> {
  /** The JSON for REST, in which ids are integers. */
  readonly json: string;
  readonly #superjson: () => string;
  readonly #value: () => Output;

  constructor(json: string, superjson: () => string, value: () => Output) {
    this.json = json;
    this.#superjson = superjson;
    this.#value = value;
  }

  /** Makes the JSON for tRPC in superjson's format, in which ids are texts. */
  superjson(): string {
    return this.#superjson();
  }

  /** Makes the objects. */
  value(): Output {
    return this.#value();
  }
}

/** A stored plant and its ETag. Over REST, the ETag is a header, and not a part of the JSON. */
export class PlantText extends OutputText<StoredPlant & { etag: string }> {
  readonly etag: string;

  constructor(json: string, etag: string) {
    const superjson = () => {
      const withEtag = `${withTextId(json).slice(0, -1)},"etag":"${etag}"}`;
      return superjsonOf(withEtag, [typesOf('', json)]);
    };
    super(json, superjson, () => ({ ...parsePlant(json), etag }));
    this.etag = etag;
  }
}

/** A page of plants, from the JSON of each plant. */
export function pageText(plants: readonly string[], next?: string): OutputText<PlantPage> {
  const end = next === undefined ? ']}' : `],"next":"${next}"}`;
  return new OutputText(
    `{"plants":[${plants.join()}${end}`,
    () => {
      const types = plants.map((plant, i) => typesOf(`plants.${i}.`, plant));
      return superjsonOf(`{"plants":[${plants.map(withTextId).join()}${end}`, types);
    },
    () => ({ plants: plants.map(parsePlant), ...(next !== undefined && { next }) }),
  );
}

/** A change of a plant with the plant's JSON. */
export interface ChangeText {
  readonly type: PlantChange['type'];
  readonly plant: string;
  /** The cursor after the change. */
  readonly cursor: string;
}

/** A page of changes, with the cursor after the last change. */
export class ChangesText extends OutputText<PlantChanges> {
  readonly changes: readonly ChangeText[];
  readonly next: string;

  constructor(changes: readonly ChangeText[], next: string) {
    const jsonWith = (write: (plant: string) => string) => {
      const texts = changes.map(({ type, plant }) => `{"type":"${type}","plant":${write(plant)}}`);
      return `{"changes":[${texts.join()}],"next":"${next}"}`;
    };
    const superjson = () => {
      const types = changes.map(({ plant }, i) => typesOf(`changes.${i}.plant.`, plant));
      return superjsonOf(jsonWith(withTextId), types);
    };
    const value = () => ({
      changes: changes.map(({ type, plant }) => ({ type, plant: parsePlant(plant) })),
      next,
    });
    super(
      jsonWith((plant) => plant),
      superjson,
      value,
    );
    this.changes = changes;
    this.next = next;
  }
}

/** The results of several creates. This function is several times faster than superjson. */
export function resultsText(results: CreateResult[]): OutputText<CreateResults> {
  const text = (idOf: (id: bigint) => string) => {
    const written = results.map(({ id, ...rest }) => {
      return `{"id":${idOf(id)},${JSON.stringify(rest).slice(1)}`;
    });
    return `{"results":[${written.join()}]}`;
  };
  return new OutputText(
    text(String),
    () => {
      const types = results.map((_, i) => `"results.${i}.id":["bigint"]`);
      return superjsonOf(
        text((id) => `"${id}"`),
        types,
      );
    },
    () => ({ results }),
  );
}

/** Adds superjson's notes about types to a JSON text. */
function superjsonOf(json: string, types: readonly string[]): string {
  return types.length === 0
    ? `{"json":${json}}`
    : `{"json":${json},"meta":{"values":{${types.join()}},"v":1}}`;
}

/** Writes superjson's types for the properties of a plant. A missing property has no type. */
function typesOf(path: string, plant: string): string {
  const types = typedFields.flatMap(({ field, type, isIn }) =>
    isIn(plant) ? `"${path}${field}":["${type}"]` : [],
  );
  return types.join();
}
