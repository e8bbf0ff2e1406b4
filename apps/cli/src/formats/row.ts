/** A row of a file: what should be a plant, or why not even that can be read. */
export type Row = { line: number } & ({ plant: unknown } | { problem: string });
