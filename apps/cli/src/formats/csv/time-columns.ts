/** The names of the column with the time at which a plant was created: an export's, and the API's. */
export const timeColumns: ReadonlySet<string> = new Set(['created_at', 'createdat']);
