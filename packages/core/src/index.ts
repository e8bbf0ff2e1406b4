export type {
  AccessToken,
  AccessTokenPage,
  PlantChange,
  PlantChanges,
  PlantPage,
  PlantWithEtag,
  StoredPlant,
  Webhook,
  WebhookAttempt,
} from '@plant-store/schemas';
export type { AccessTokens, NewTokenOptions } from './access-tokens/access-tokens.ts';
export type { Authentication, Principal } from './access-tokens/principals.ts';
export type { FollowOptions } from './changes/feed.ts';
export type { DatabaseOptions, OpenOptions, PoolState } from './database/database.ts';
export type { Caller, CallOptions, Deadline } from './database/deadline.ts';
export { DatabaseSettingsError, DataDirectoryError } from './database/errors.ts';
export { openTestStore } from './open-test-store.ts';
export {
  type ListQuery,
  openPlantStore,
  type PlantStore,
  type StoreEvents,
} from './plant-store.ts';
export { PlantStoreError } from './plant-store-error.ts';
export type { ManyCreatesOutcome } from './plants/creates.ts';
export type { ConditionalOptions } from './plants/edits.ts';
export type { WebhookSettings, Webhooks } from './webhooks/webhooks.ts';
