/** The exports for the server's settings and the operator's commands. */
export * as changeStatements from './changes/statements.ts';
export { distribute } from './citus/distribute.ts';
export {
  databaseUrlSyntax,
  describeDatabaseUrl,
  isDatabaseUrl,
} from './database/database-url.ts';
export { explainDatabaseError } from './database/errors.ts';
export { type Finding, runDoctor } from './doctor.ts';
export * as plantStatements from './plants/statements.ts';
export { isWebhookTarget } from './webhooks/addresses.ts';
export * as webhookStatements from './webhooks/statements.ts';
