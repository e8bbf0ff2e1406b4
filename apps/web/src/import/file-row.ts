/** A row of a file: the input for a plant, not checked yet, or the reason why it cannot be read. */
export type FileRow = { readonly row: number } & (
  | { readonly plant: unknown }
  | { readonly error: string }
);

/** Rows that were read together. */
export interface RowBlock {
  readonly rows: FileRow[];
  /** How many bytes of the file they were. */
  readonly bytes: number;
}
