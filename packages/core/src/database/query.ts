/** The values of a statement's parameters. */
export type Values = readonly (string | null)[];

export interface Rows {
  rows: unknown[];
  /** The number of rows that the statement returned or changed. */
  count: number;
}

/**
 * With `arrays`, each row is an array of values, as the driver returns them. The default is `arrays`. The
 * embedded database prepares a statement only if the caller does not set this option.
 */
export type RowsAs = 'arrays' | 'objects';

/** Runs a statement on one connection. */
export type Query = (text: string, values?: Values, rowsAs?: RowsAs) => Promise<Rows>;

/** Runs a statement without parameters, and returns its rows as objects. */
export async function send<Row>(query: Query, text: string): Promise<Row[]> {
  const { rows } = await query(text, [], 'objects');
  return rows as Row[]; // The caller names the selected columns in `Row`.
}

/** Whether an SQL condition is true. */
export async function holds(query: Query, condition: string): Promise<boolean> {
  const [row] = await send<{ holds: boolean }>(query, `select ${condition} as holds`);
  return row?.holds === true;
}
