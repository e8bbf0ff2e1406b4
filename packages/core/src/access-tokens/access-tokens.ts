import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type AccessToken, createAccessTokenTable } from './access-token-table.ts';
import type { Drizzle } from '../database/database.ts';
import { answerInTime } from '../database/timeout.ts';
import { createLookupBatcher } from './lookup-batcher.ts';
import { invalidInput } from '../plant-store-error.ts';
import {
  type Authentication,
  createPrincipalCache,
  type Finding,
  sha256Of,
} from './principal-cache.ts';
import { createUseMarker } from './use-marker.ts';

export interface AccessTokens {
  /**
   * Creates a token under a name and returns it: only its SHA-256 is stored. A name may have several
   * tokens, so that the next can be handed out before the last expires.
   * @throws PlantStoreError `databaseUnavailable`, or `invalidInput` unless the name is 1 to 100
   *   characters, none of them a control character, and `expiresAt`, if there is one, is to come
   */
  create(name: string, options?: { expiresAt?: Date | undefined }): Promise<string>;
  /**
   * All tokens that were ever created, by name and age.
   * @throws PlantStoreError `databaseUnavailable`
   */
  list(): Promise<AccessToken[]>;
  /**
   * Revokes every token under a name: at once here, within 30 s wherever else the database is used.
   * False when there was none to revoke.
   * @throws PlantStoreError `databaseUnavailable`
   */
  revoke(name: string): Promise<boolean>;
  /** Accepts a token for as long as this process runs, whatever the database says. */
  trust(name: string, token: string): void;
  /**
   * Who a token belongs to; undefined when it is unknown, expired or revoked. What was found in the
   * last 30 s is answered without a promise.
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many are looked up
   */
  authenticate(token: string): Authentication;
}

/** Milliseconds between two notes of a token's last use. */
const usePrecision = 60_000;

/** 256 bits of randomness behind a prefix that scanners and people recognise. */
export function createToken(random: (size: number) => Buffer = randomBytes): string {
  return `plant_${random(32).toString('base64url')}`;
}

/** The access tokens of a database. `now` is a clock in milliseconds. */
export function createAccessTokens({
  db,
  now = Date.now,
}: {
  db: Drizzle;
  now?: () => number;
}): AccessTokens {
  const table = createAccessTokenTable(db);
  const principals = createPrincipalCache({ find, now });
  const lookUp = createLookupBatcher(table);
  const markUsed = createUseMarker({ table, now });

  return {
    async create(name, { expiresAt } = {}) {
      const { data, error } = newToken(now()).safeParse({ name, expiresAt });
      if (error) throw invalidInput(error);
      const token = createToken();
      await answerInTime(table.insert({ sha256: sha256Of(token), ...data }));
      return token;
    },

    list: () => answerInTime(table.list()),

    async revoke(name) {
      const revoked = await answerInTime(table.revoke(name, new Date(now())));
      principals.forget(revoked);
      return revoked.length > 0;
    },

    trust(name, token) {
      principals.keep(token, { name });
    },

    authenticate: (token) => principals.get(token),
  };

  async function find(sha256: string): Promise<Finding> {
    const at = now();
    const token = await lookUp(sha256);
    const until = token?.expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
    if (!token || token.revokedAt || until <= at) return nobody;

    if (at - (token.lastUsedAt?.getTime() ?? 0) >= usePrecision) markUsed(sha256);
    return { principal: { name: token.name }, until };
  }
}

const nobody: Finding = { principal: undefined, until: Number.POSITIVE_INFINITY };

const newToken = (now: number) =>
  z.object({
    name: z.string('must be a string').regex(/^[^\p{Cc}\p{Cs}]{1,100}$/u, {
      error: 'must be 1 to 100 characters, none of them a control character',
    }),
    expiresAt: z
      .date({ error: 'must be a date' })
      .refine((date) => date.getTime() > now, 'must be in the future')
      .optional(),
  });
