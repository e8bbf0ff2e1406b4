import { IdFromText } from '@plant-store/schemas';

/** The views beside the table, except the view of a plant. */
const sheets = ['add', 'import', 'export', 'requests'] as const;

export type SheetName = (typeof sheets)[number];

/**
 * The state of the page in the fragment of the address. A browser never sends the fragment, so no log
 * contains tags and ids of plants.
 */
export interface Address {
  /** The table shows only plants with exactly this tag. */
  readonly tag?: string | undefined;
  /** The id at the top of the table. It is undefined at the start of the table. */
  readonly at?: bigint | undefined;
  /** The plant that is open. */
  readonly plant?: bigint | undefined;
  readonly sheet?: SheetName | undefined;
}

export function readAddress(hash: string): Address {
  const values = new URLSearchParams(hash.slice(1));
  return {
    tag: values.get('tag') ?? undefined,
    at: IdFromText.safeParse(values.get('at')).data,
    plant: IdFromText.safeParse(values.get('plant')).data,
    sheet: sheets.find((name) => name === values.get('sheet')),
  };
}

/** Makes the link to an address of this page. */
export function hrefOf(address: Address): string {
  const given = Object.entries(address).filter(([, value]) => value !== undefined);
  return `#${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}
