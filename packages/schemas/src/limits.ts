// Web pages read these numbers before they load zod, so this file must not import zod.

/** The maximum and the default number of plants, changes, tokens or webhooks in one page. */
export const maxPageSize = 1000;
export const defaultPageSize = 100;

/** The maximum number of plants in one call of `createPlants`. */
export const maxNewPlants = 1000;

/** The maximum number that `countPlants` returns. When there are more plants, the count is not exact. */
export const maxExactCount = 1_000_000;

/** The maximum number of calls in one tRPC request. */
export const maxBatchCalls = 10;

/** The maximum number of characters in the text of a search. A long text could block Postgres for seconds. */
export const maxSearch = 100;
