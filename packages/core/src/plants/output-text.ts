import type {
  CreateResult,
  CreateResults,
  PlantChange,
  PlantChanges,
  PlantPage,
  StoredPlant,
} from '@plant-store/schemas';
import { parsePlant, toPlant, typedFields, withTextIds } from './plant-json.ts';

/**
 * An output as text. Postgres writes the JSON of plants, and the surfaces send the text unchanged. Only callers
 * in this process need objects. An output keeps only its text in memory while a client reads it.
 */
export abstract class OutputText<Output> {
  /** The JSON for REST, in which ids are integers. */
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  /** Makes the JSON for tRPC in superjson's format, in which ids are texts. */
  abstract superjson(): string;

  /** Makes the objects. */
  abstract value(): Output;
}

/** A stored plant and its ETag. Over REST, the ETag is a header, and not a part of the JSON. */
export class PlantText extends OutputText<StoredPlant & { etag: string }> {
  readonly etag: string;

  constructor(json: string, etag: string) {
    super(json);
    this.etag = etag;
  }

  superjson(): string {
    const withEtag = `${withTextIds(this.json).slice(0, -1)},"etag":"${this.etag}"}`;
    return superjsonOf(withEtag, typesOf('', hasUpdates(this.json)));
  }

  value() {
    return { ...parsePlant(this.json), etag: this.etag };
  }
}

/** A page of plants. */
export class PageText extends OutputText<PlantPage> {
  readonly #count: number;

  /** @param plants the JSON of each plant */
  constructor(plants: readonly string[], next?: string) {
    super(`{"plants":[${plants.join()}${next === undefined ? ']}' : `],"next":"${next}"}`}`);
    this.#count = plants.length;
  }

  superjson(): string {
    const types = hasUpdates(this.json)
      ? this.#parse().plants.map((plant, i) => typesOf(`plants.${i}.`, 'updatedAt' in plant))
      : Array.from({ length: this.#count }, (_, i) => typesOf(`plants.${i}.`, false));
    return superjsonOf(withTextIds(this.json), types.join());
  }

  value(): PlantPage {
    const { plants, ...rest } = this.#parse();
    return { plants: plants.map(toPlant), ...rest };
  }

  #parse(): { plants: Record<string, unknown>[]; next?: string } {
    return JSON.parse(withTextIds(this.json));
  }
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
    const texts = changes.map(({ type, plant }) => `{"type":"${type}","plant":${plant}}`);
    super(`{"changes":[${texts.join()}],"next":"${next}"}`);
    this.changes = changes;
    this.next = next;
  }

  superjson(): string {
    const types = this.changes.map(({ plant }, i) =>
      typesOf(`changes.${i}.plant.`, hasUpdates(plant)),
    );
    return superjsonOf(withTextIds(this.json), types.join());
  }

  value(): PlantChanges {
    const changes = this.changes.map(({ type, plant }) => ({ type, plant: parsePlant(plant) }));
    return { changes, next: this.next };
  }
}

/** The results of several creates. Writing them here is several times faster than by superjson. */
export class ResultsText extends OutputText<CreateResults> {
  readonly #results: CreateResult[];

  constructor(results: CreateResult[]) {
    const texts = results.map(({ id, ...rest }) => `{"id":${id},${JSON.stringify(rest).slice(1)}`);
    super(`{"results":[${texts.join()}]}`);
    this.#results = results;
  }

  superjson(): string {
    const types = this.#results.map((_, i) => `"results.${i}.id":["bigint"]`);
    return superjsonOf(withTextIds(this.json), types.join());
  }

  value(): CreateResults {
    return { results: this.#results };
  }
}

/** Adds superjson's notes about types to a JSON text. */
function superjsonOf(json: string, types: string): string {
  return types === '' ? `{"json":${json}}` : `{"json":${json},"meta":{"values":{${types}},"v":1}}`;
}

/** Writes superjson's types for the properties of a plant. A missing property has no type. */
function typesOf(path: string, isUpdated: boolean): string {
  const fields = isUpdated ? typedFields : requiredFields;
  return fields.map(({ field, type }) => `"${path}${field}":["${type}"]`).join();
}

const requiredFields = typedFields.filter(({ isOptional }) => !isOptional);

/** Whether a plant in a JSON text was replaced. In a text, JSON escapes the quotes. */
function hasUpdates(json: string): boolean {
  return json.includes('"updatedAt":');
}
