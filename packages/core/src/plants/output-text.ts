import { inspect } from 'node:util';
import { maxPageSize } from '@plant-store/schemas/plain';
import { typedFields, withTextIds } from './plant-json.ts';

/**
 * The JSON of an output, for the surfaces. The surfaces send the text unchanged, so nobody parses the output
 * into objects.
 */
interface OutputText {
  /** The JSON text, in which ids are integers. */
  readonly json: string;
  /** The property of the output that contains the list. Undefined when the output is one plant. */
  readonly list?: keyof typeof typesIn;
  /** The number of items in the list. */
  readonly count?: number;
  /** Whether the output has the property `next`, and the value of `next` is an id. */
  readonly hasNextId?: boolean;
}

const outputText = Symbol('outputText');

/**
 * Stores the JSON of an output for the surfaces, in a property that is not enumerable. A WeakMap would keep
 * the text of each output in memory until a full garbage collection.
 */
export function withText<Output extends object>(output: Output, text: OutputText): Output {
  return Object.defineProperty(output, outputText, { value: text });
}

/**
 * Makes an output with a list. The list is parsed when the property is read for the first time. After the
 * first read, the property is plain data.
 */
export function withLazyList<List extends keyof typeof lazyLists, Item, Rest extends object>(
  list: List,
  parse: () => Item[],
  rest: Rest,
): Record<List, Item[]> & Rest {
  const output = Object.defineProperties(
    {},
    { ...lazyLists[list], [unread]: { value: { parse } } },
  );
  // The cast is safe, because the code above has defined the list.
  return Object.assign(output as Record<List, Item[]>, rest);
}

const unread = Symbol('unread');

interface Unread {
  readonly [unread]: { readonly parse: () => unknown[]; items?: unknown[] };
}

/**
 * All outputs share these functions. If each output had its own getter, V8 would make a hidden class for each
 * output, and would keep the output in memory until a full garbage collection.
 */
const lazyLists = { plants: lazyList('plants'), changes: lazyList('changes') };

function lazyList(list: string): PropertyDescriptorMap {
  const set = (output: object, value: unknown) =>
    Object.defineProperty(output, list, { value, enumerable: true, writable: true });
  return {
    [list]: {
      get(this: Unread) {
        const state = this[unread];
        state.items ??= state.parse();
        if (!Object.isSealed(this)) set(this, state.items);
        return state.items;
      },
      set(this: object, value: unknown) {
        set(this, value);
      },
      enumerable: true,
      configurable: true,
    },
    [inspect.custom]: {
      value(this: object) {
        return { ...this };
      },
    },
  };
}

/** Returns the JSON of an output, or undefined when `withText` has stored no JSON. */
export function jsonOf(output: unknown): string | undefined {
  return textOf(output)?.json;
}

function textOf(output: unknown): OutputText | undefined {
  return Object(output)[outputText];
}

/**
 * Returns the JSON of an output in superjson's format, or undefined when `withText` has stored no JSON. The
 * returned text lacks superjson's notes about identical objects.
 */
export function superjsonOf(output: unknown): string | undefined {
  const text = textOf(output);
  if (!text) return undefined;
  const { json, list, count = 0, hasNextId } = text;
  const types = list ? typesIn[list](count) : typesOfPlant;
  const comma = types === '' ? '' : ',';
  const all = hasNextId ? `${types}${comma}"next":["bigint"]` : types;
  const meta = all === '' ? '' : `,"meta":{"values":{${all}},"v":1}`;
  return `{"json":${withTextIds(json)}${meta}}`;
}

const typesOfPlant = typedFields.map(({ field, type }) => `"${field}":["${type}"]`).join();

const typesIn = {
  plants: typesWithin('plants', '', typedFields),
  changes: typesWithin('changes', 'plant.', typedFields),
  results: typesWithin('results', '', [{ field: 'id', type: 'bigint' }]),
};

/**
 * Makes a function that returns superjson's types for the first `count` items of a list. No field may be
 * optional, because superjson names no type for a missing value.
 */
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
