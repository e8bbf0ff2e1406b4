// The exports for an operator's tools, such as `doctor`.
export { databaseUrlSyntax, isDatabaseUrl } from './database/database-url.ts';
export { explainDatabaseError } from './database/errors.ts';
export type { FeedState, OldTransaction } from './inspection/feed-state.ts';
export { type DatabaseState, inspectDatabase } from './inspection/inspect-database.ts';
export type { Lock } from './inspection/locks.ts';
export {
  missingGrants,
  type Privilege,
  serverNeeds,
  type TablePrivileges,
} from './tables/privileges.ts';
export type { TableFault } from './tables/table-check.ts';
export { isWebhookTarget } from './webhooks/addresses.ts';
export { isSecretsKey } from './webhooks/secrets.ts';
