/** Who a request comes from: the name its access token was given. */
export interface Principal {
  readonly name: string;
}

/** An answer that is there at once is given without a promise: most requests ask for one. */
export type Authentication = Principal | undefined | Promise<Principal | undefined>;

/** Who a token belongs to, undefined for nobody, and until when (in milliseconds) that is so. */
export interface Finding {
  readonly principal: Principal | undefined;
  readonly until: number;
}

interface PrincipalCache {
  /** What was found under a key and is still so; else it is looked for, once for all who ask. */
  get(key: string): Authentication;
  /** Forgets keys, also where they are being looked for just now. */
  forget(keys: readonly string[]): void;
}

/** Milliseconds that a finding may be remembered for, at most. */
export const maxAge = 30_000;

const maxSize = 10_000;

/** Remembers who tokens belong to. `now` is a clock in milliseconds. */
export function createPrincipalCache({
  find,
  now,
}: {
  find: (key: string) => Promise<Finding>;
  now: () => number;
}): PrincipalCache {
  // Apart, so that a flood of unknown tokens does not push out the known ones.
  const known = new Map<string, Finding>();
  const unknown = new Map<string, Finding>();
  const underWay = new Map<string, Promise<Principal | undefined>>();
  let timesForgotten = 0;

  return {
    get(key) {
      const finding = known.get(key) ?? unknown.get(key);
      if (finding && now() < finding.until) return finding.principal;
      return underWay.get(key) ?? look(key);
    },

    forget(keys) {
      timesForgotten++;
      for (const key of keys) {
        known.delete(key);
        underWay.delete(key);
      }
    },
  };

  function look(key: string): Promise<Principal | undefined> {
    const looking = findAndRemember(key).finally(() => underWay.delete(key));
    underWay.set(key, looking);
    return looking;
  }

  async function findAndRemember(key: string): Promise<Principal | undefined> {
    const [startedAt, timesBefore] = [now(), timesForgotten];
    const { principal, until } = await find(key);
    // What was found before others were told to forget may be out of date already.
    if (timesBefore === timesForgotten) {
      remember(key, { principal, until: Math.min(until, startedAt + maxAge) });
    }
    return principal;
  }

  function remember(key: string, finding: Finding): void {
    known.delete(key);
    const findings = finding.principal ? known : unknown;
    if (findings.size >= maxSize) findings.clear();
    findings.set(key, finding);
  }
}
