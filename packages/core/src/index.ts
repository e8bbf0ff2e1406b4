export type {
  AccessToken,
  AccessTokenPage,
  PlantChange,
  PlantChanges,
  StoredPlant,
} from '@plant-store/schemas';
export type { AccessTokens, NewTokenOptions } from './access-tokens/access-tokens.ts';
export type { Authentication, Principal } from './access-tokens/principal.ts';
export type { FollowOptions, PlantFeed } from './changes/plant-feed.ts';
export type { OpenOptions, PoolState } from './database/database.ts';
export type { Caller, CallOptions, Deadline } from './database/deadline.ts';
export { DataDirectoryError } from './database/embedded/lock.ts';
export { DatabaseSettingsError } from './database/errors.ts';
export type { DatabaseOptions } from './database/open-database.ts';
export type { ManyCreatesOutcome } from './group-commit/create-many.ts';
export type { CreateOptions } from './group-commit/lane.ts';
export { openTestStore } from './open-test-store.ts';
export { openPlantStore, type PlantStore, type StoreEvents } from './plant-store.ts';
export { PlantStoreError, type PlantStoreErrorKind } from './plant-store-error.ts';
export type { PlantQuery } from './plants/plant-reader.ts';
export type { WebhookAttempt } from './tables/webhook-values.ts';
export type { NewWebhook, Webhook, WebhookSettings, Webhooks } from './webhooks/webhooks.ts';
