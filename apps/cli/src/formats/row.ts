/** A row of a file: the input for a plant, not validated yet, or the reason why it cannot be read. */
export type Row = { line: number } & ({ plant: unknown } | { error: string });
