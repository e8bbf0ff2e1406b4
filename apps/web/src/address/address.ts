import { IdFromText } from '@plant-store/schemas';

/** Names the views beside the table. The view of a plant has no name. */
const sheets = ['add', 'import', 'export', 'requests', 'tokens'] as const;

export type SheetName = (typeof sheets)[number];

/** Selects the plants in the list. */
export interface PlantFilter {
  /** Only plants with exactly this tag. */
  readonly tag?: string | undefined;
  /** Only plants whose names contain this text. */
  readonly search?: string | undefined;
}

/**
 * The state of the page, which the fragment of the address contains. A browser never sends the fragment, so
 * no log contains names, tags or ids of plants.
 */
export interface Address extends PlantFilter {
  /** The id at the top of the table, or undefined at the start of the table. */
  readonly at?: bigint | undefined;
  /** The id of the open plant. */
  readonly plant?: bigint | undefined;
  readonly sheet?: SheetName | undefined;
}

export function readAddress(hash: string): Address {
  const values = new URLSearchParams(hash.slice(1));
  return {
    tag: values.get('tag') ?? undefined,
    search: values.get('search') || undefined,
    at: IdFromText.safeParse(values.get('at')).data,
    plant: IdFromText.safeParse(values.get('plant')).data,
    sheet: sheets.find((name) => name === values.get('sheet')),
  };
}

/** Returns a filter without undefined properties, for the input of a call and the key of a query. */
export function filterOf({ tag, search }: PlantFilter): PlantFilter {
  return { ...(tag !== undefined && { tag }), ...(search !== undefined && { search }) };
}

/** Returns the link to a state of this page. */
export function hrefOf(address: Address): string {
  const given = Object.entries(address).filter(([, value]) => value !== undefined);
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
