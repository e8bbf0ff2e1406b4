/** These exports are only for the server, and may change in any version. */
export { generateToken } from './access-tokens/access-tokens.ts';
export { createPrincipalCache } from './access-tokens/principals.ts';
export type { ChangesText } from './changes/read-changes.ts';
export { deadlineIn, defaultTimeout } from './database/deadline.ts';
export { outcomeOf } from './database/errors.ts';
export { describeStatement, statementObservers } from './database/pool.ts';
export { databaseCode, invalidInput } from './plant-store-error.ts';
export { OutputText, PlantText } from './plants/output-text.ts';
export { define, type Operation, type Procedure } from './procedures/trpc/define.ts';
export { transformer } from './procedures/trpc/transformer.ts';
