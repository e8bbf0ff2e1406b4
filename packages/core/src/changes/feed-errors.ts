import { PlantStoreError } from '../plant-store-error.ts';

export function switchedOff(): PlantStoreError {
  const message =
    'the feed of changes is switched off: the operator switches it on with `plant-store feed on`';
  return new PlantStoreError('notImplemented', message);
}

/** The error after a restore or a promotion, until an instance has drawn a new epoch. */
export function restored(): PlantStoreError {
  const message =
    'somebody has restored or promoted the database, and its feed begins anew: try again';
  const cause = Object.assign(new Error('the feed belongs to another database'), {
    code: 'FEED_RESTORED',
  });
  return new PlantStoreError('databaseUnavailable', message, { cause });
}

export function noFeed(where: string): PlantStoreError {
  return new PlantStoreError('notImplemented', `there is no feed of changes on ${where}`);
}

export function cursorExpired(why: string): PlantStoreError {
  const advice = 'empty your copy, and list the plants again';
  return new PlantStoreError('cursorExpired', `${why}: ${advice}`);
}
