import { hash } from 'node:crypto';

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

export interface PrincipalCache {
  /** Who a token belongs to, as far as that is remembered; else it is looked for, once for all who ask. */
  get(token: string): Authentication;
  /** Remembers who a token belongs to for good. */
  keep(token: string, principal: Principal): void;
  /** Forgets what was found under these SHA-256, also where it is being looked for just now. */
  forget(sha256s: readonly string[]): void;
}

/** Milliseconds that a finding is remembered for, at most. */
const maxAge = 30_000;

const maxSize = 10_000;

/** Remembers by their SHA-256 who tokens belong to, for 30 s at most. `now` is a clock in milliseconds. */
export function createPrincipalCache({
  find,
  now = () => Date.now(),
}: {
  find: (sha256: string, token: string) => Promise<Finding>;
  now?: () => number;
}): PrincipalCache {
  const kept = new Map<string, Principal>();
  // Apart, so that a flood of unknown tokens does not push out the known ones.
  const known = new Map<string, Finding>();
  const unknown = new Map<string, Finding>();
  const underWay = new Map<string, Promise<Principal | undefined>>();
  let timesForgotten = 0;

  return {
    get(token) {
      const sha256 = sha256Of(token);
      const principal = kept.get(sha256);
      if (principal) return principal;
      const finding = known.get(sha256) ?? unknown.get(sha256);
      if (finding && now() < finding.until) return finding.principal;
      return underWay.get(sha256) ?? look(sha256, token);
    },

    keep(token, principal) {
      kept.set(sha256Of(token), principal);
    },

    forget(sha256s) {
      timesForgotten++;
      for (const sha256 of sha256s) {
        known.delete(sha256);
        underWay.delete(sha256);
      }
    },
  };

  function look(sha256: string, token: string): Promise<Principal | undefined> {
    const looking = findAndRemember(sha256, token).finally(() => underWay.delete(sha256));
    underWay.set(sha256, looking);
    return looking;
  }

  async function findAndRemember(sha256: string, token: string): Promise<Principal | undefined> {
    const [startedAt, timesBefore] = [now(), timesForgotten];
    const { principal, until } = await find(sha256, token);
    // What was found before others were told to forget may be out of date already.
    if (timesBefore === timesForgotten) {
      remember(sha256, { principal, until: Math.min(until, startedAt + maxAge) });
    }
    return principal;
  }

  function remember(sha256: string, finding: Finding): void {
    known.delete(sha256);
    const findings = finding.principal ? known : unknown;
    if (findings.size >= maxSize) findings.clear();
    findings.set(sha256, finding);
  }
}

/** What a token is known by, in hexadecimal. */
export function sha256Of(token: string): string {
  return hash('sha256', token, 'hex');
}
