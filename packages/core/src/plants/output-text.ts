import { inspect } from 'node:util';
import { maxPageSize } from '@plant-store/schemas/plain';
import { typedFields, withTextIds } from './plant-json.ts';

/** The JSON of an output. It exists before anybody needs the objects of the output. */
interface OutputText {
  /** Ids are integers. */
  readonly json: string;
  /** The list in the output. It is undefined for a plant. */
  readonly list?: keyof typeof typesIn;
  /** The number of items in the list. */
  readonly count?: number;
  /** Whether the output has an id as its `next`. */
  readonly hasNextId?: boolean;
}

const texts = new WeakMap<object, OutputText>();

/** Keeps the JSON of an output for the surfaces. */
export function withText<Output extends object>(output: Output, text: OutputText): Output {
  texts.set(output, text);
  return output;
}

/** Makes an output with a list that is parsed when somebody first reads it. Then the list is plain data. */
export function withLazyList<List extends string, Item, Rest extends object>(
  list: List,
  parse: () => Item[],
  rest: Rest,
): Record<List, Item[]> & Rest {
  const output: object = {};
  const set = (value: Item[]) =>
    Object.defineProperty(output, list, { value, enumerable: true, writable: true });
  const get = () => {
    const items = parse();
    set(items);
    return items;
  };
  Object.defineProperty(output, list, { get, set, enumerable: true, configurable: true });
  Object.defineProperty(output, inspect.custom, { value: () => ({ ...output }) });
  return Object.assign(output as Record<List, Item[]>, rest); // The list is defined above.
}

/** Returns the JSON of an output, or undefined when the output has no text yet. */
export function jsonOf(output: unknown): string | undefined {
  return texts.get(Object(output))?.json;
}

/**
 * Returns the JSON of an output in superjson's format, or undefined when the output has no text yet. The
 * bytes are those of superjson, but without its notes about identical objects.
 */
export function superjsonOf(output: unknown): string | undefined {
  const text = texts.get(Object(output));
  if (!text || hasOptionalType) return undefined;
  const { json, list, count = 0, hasNextId } = text;
  const types = list ? typesIn[list](count) : typesOfPlant;
  const comma = types === '' ? '' : ',';
  const all = hasNextId ? `${types}${comma}"next":["bigint"]` : types;
  const meta = all === '' ? '' : `,"meta":{"values":{${all}},"v":1}`;
  return `{"json":${withTextIds(json)}${meta}}`;
}

/** superjson names the type of a value that is there, so the number of items would not be enough. */
const hasOptionalType = typedFields.some(({ isOptional }) => isOptional);

const typesOfPlant = typedFields.map(({ field, type }) => `"${field}":["${type}"]`).join();

const typesIn = {
  plants: typesWithin('plants', '', typedFields),
  changes: typesWithin('changes', 'plant.', typedFields),
  results: typesWithin('results', '', [{ field: 'id', type: 'bigint' }]),
};

/** Makes a function that returns the types in the first items of a list. It writes all types once. */
function typesWithin(list: string, inner: string, fields: { field: string; type: string }[]) {
  let all: string | undefined;
  const ends = [0];

  const writeAll = () => {
    let types = '';
    for (let i = 0; i < maxPageSize; i++) {
      for (const { field, type } of fields) types += `,"${list}.${i}.${inner}${field}":["${type}"]`;
      ends.push(types.length);
    }
    return types;
  };
  return (count: number): string => {
    all ??= writeAll();
    return all.slice(1, ends[count]);
  };
}
