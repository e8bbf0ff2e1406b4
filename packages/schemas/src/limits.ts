/** The greatest and the default number of plants in a page. */
export const maxPageSize = 1000;
export const defaultPageSize = 100;

/** How many plants one call of `createPlants` may have. */
export const maxNewPlants = 1000;

/** The greatest exact count; a store with more plants has a count that is not exact. */
export const maxExactCount = 1_000_000;

/** How many calls one tRPC request may contain. */
export const maxBatchSize = 10;
