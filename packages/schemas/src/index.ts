export {
  AccessToken,
  AccessTokenIdInput,
  AccessTokenPage,
  CreatedAccessToken,
  Identity,
  ListAccessTokens,
  NewAccessToken,
  Nothing,
} from './access-tokens.ts';
export { CreateResult, CreateResults, NewPlants } from './create-results.ts';
export { ErrorBody } from './errors/error-body.ts';
export { Int64 } from './ids/int64.ts';
export { IdFromText, IntegerText } from './ids/parse-id.ts';
export * from './plain.ts';
export { integerBetween, NewPlant, Plant } from './plant.ts';
export {
  FollowPlantChanges,
  ListPlantChanges,
  PlantChange,
  PlantChanges,
} from './plant-changes.ts';
export {
  CountPlants,
  DeletePlant,
  ListPlants,
  PlantCount,
  PlantIdInput,
  PlantPage,
  PlantWithEtag,
  ReplacePlant,
  StoredPlant,
} from './stored-plant.ts';
export {
  CreatedWebhook,
  ListWebhooks,
  NewWebhook,
  ReplayWebhook,
  UpdateWebhook,
  Webhook,
  WebhookAttempt,
  WebhookNameInput,
  WebhookPage,
  WebhookSecret,
} from './webhooks.ts';
