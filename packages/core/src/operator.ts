/** The exports for the server's settings and the operator's commands. */

export { type Distribution, distribute } from './citus/distribute.ts';
export {
  databaseUrlSyntax,
  describeDatabaseUrl,
  isDatabaseUrl,
  withoutPassword,
} from './database/database-url.ts';
export { explainDatabaseError } from './database/errors.ts';
export { type Finding, runDoctor } from './doctor.ts';
export { isWebhookTarget } from './webhooks/addresses.ts';
