import { readIdText } from '@plant-store/schemas/plain';

/** The titles of the views beside the table. Each key is a value of `sheet` in the address. */
export const sheetTitles = {
  add: 'Add a plant',
  import: 'Add files of plants',
  export: 'Export plants',
  requests: 'Requests',
  tokens: 'Access tokens',
} as const;

export type SheetName = keyof typeof sheetTitles;

/** Selects the plants that the list shows. */
export interface PlantFilter {
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
  /** Only plants whose names contain this text. */
  readonly search?: string | undefined;
}

/**
 * The state of the console, which is in the fragment of the address. A browser never sends the fragment, so
 * no log contains names, tags or ids of plants.
 */
export interface Address extends PlantFilter {
  /** The id at the top of the table, or undefined at the start of the table. */
  readonly at?: bigint | undefined;
  readonly plant?: bigint | undefined;
  readonly sheet?: SheetName | undefined;
}

// The cast is safe, because every key of `sheetTitles` is a `SheetName`.
const sheetNames = Object.keys(sheetTitles) as SheetName[];

export function readAddress(hash: string): Address {
  const values = new URLSearchParams(hash.slice(1));
  return {
    tag: values.get('tag') ?? undefined,
    search: values.get('search') || undefined,
    at: readIdText(values.get('at') ?? ''),
    plant: readIdText(values.get('plant') ?? ''),
    sheet: sheetNames.find((name) => name === values.get('sheet')),
  };
}

/** Removes undefined properties from a filter. */
export function filterOf({ tag, search }: PlantFilter): PlantFilter {
  return { ...(tag !== undefined && { tag }), ...(search !== undefined && { search }) };
}

/** Returns the link to a state of the console. */
export function hrefOf(address: Address): string {
  const given = Object.entries(address).filter(([, value]) => value !== undefined);
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
