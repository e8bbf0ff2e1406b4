import { hash, randomBytes } from 'node:crypto';
import { and, eq, ne } from 'drizzle-orm';
import type { Drizzle } from './database.ts';
import { answerInTime } from './deadline.ts';
import { PlantStoreError } from './plant-store-error.ts';
import { accessTokens } from './tables.ts';

/** Who a request comes from: the name its access token was given. */
export interface Principal {
  readonly name: string;
}

export interface AccessTokens {
  /**
   * Adds a token (a new one unless given) under a name and returns it. Only its SHA-256 is stored.
   * A token that is there already keeps its name.
   * @throws PlantStoreError `databaseUnavailable`
   */
  add(name: string, token?: string): Promise<string>;
  /**
   * Makes a token the only one under a name: one that it replaces is refused within 30 s.
   * @throws PlantStoreError `databaseUnavailable`
   */
  replace(name: string, token: string): Promise<void>;
  /** Accepts a token for as long as this process runs, whatever the database says. */
  trust(name: string, token: string): void;
  /**
   * Who a token belongs to; undefined when it is unknown. Either is remembered for 30 s.
   * @throws PlantStoreError `databaseUnavailable`, or `overloaded` when too many are looked up
   */
  authenticate(token: string): Promise<Principal | undefined>;
}

interface Lookup {
  readonly until: number;
  readonly found: Promise<Principal | undefined>;
}

const maxAge = 30_000;
const maxRemembered = 10_000;

/** Look-ups that the database has not answered; beyond them there is no use in asking more. */
const maxUnanswered = 100;

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
  const trusted = new Map<string, Principal>();
  const remembered = new Map<string, Lookup>();
  let unanswered = 0;

  return {
    add,

    async replace(name, token) {
      await add(name, token);
      const sha256 = Buffer.from(digest(token), 'hex');
      const others = and(eq(accessTokens.name, name), ne(accessTokens.sha256, sha256));
      await answerInTime(db.delete(accessTokens).where(others));
    },

    trust(name, token) {
      trusted.set(digest(token), { name });
    },

    async authenticate(token) {
      const sha256 = digest(token);
      const principal = trusted.get(sha256);
      if (principal) return principal;
      const lookup = remembered.get(sha256);
      return lookup && now() < lookup.until ? lookup.found : lookUp(sha256);
    },
  };

  async function add(name: string, token = createToken()): Promise<string> {
    const sha256 = digest(token);
    const row = { sha256: Buffer.from(sha256, 'hex'), name };
    await answerInTime(db.insert(accessTokens).values(row).onConflictDoNothing());
    remembered.delete(sha256);
    return token;
  }

  function lookUp(sha256: string): Promise<Principal | undefined> {
    if (unanswered >= maxUnanswered) {
      const message = 'too many access tokens are being looked up: send the request again later';
      throw new PlantStoreError('overloaded', message);
    }
    const found = answerInTime(find(sha256));
    // Unknown tokens are remembered too; a flood of them may not fill the memory.
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(sha256, { until: now() + maxAge, found });
    found.catch(() => remembered.delete(sha256));
    return found;
  }

  async function find(sha256: string): Promise<Principal | undefined> {
    unanswered++;
    try {
      const [row] = await db
        .select({ name: accessTokens.name })
        .from(accessTokens)
        .where(eq(accessTokens.sha256, Buffer.from(sha256, 'hex')));
      return row;
    } finally {
      unanswered--;
    }
  }
}

function digest(token: string): string {
  return hash('sha256', token, 'hex');
}
