import { toHttpError } from '../errors/http-error.ts';
import { countByClient, tooMany } from '../requests/rate-limit.ts';

/** A client's attempts to authenticate within a minute. */
interface Attempts {
  failed: number;
  /** The number of token look-ups that are running. */
  running: number;
  /** Each function lets one waiting request continue. */
  readonly waiting: (() => void)[];
  readonly end: number;
}

/** The result of a look-up, or undefined when the token or the code is not valid. */
type Result<Found> = Found | undefined | Promise<Found | undefined>;

/**
 * Makes a function that authenticates requests, and rejects a client after `max` failed attempts in a minute.
 * A running look-up of a token may still fail. So a client has at most `max` failed attempts and running
 * look-ups together, and its further requests wait until a look-up ends.
 */
export function limitAuthenticationErrors(max: number) {
  const attemptsOf = countByClient(() => ({ failed: 0, running: 0, waiting: [] }));
  return <Found extends object | string>(ip: string, look: () => Result<Found>) =>
    authenticate(attemptsOf(ip), look);

  function authenticate<Found extends object | string>(
    attempts: Attempts,
    look: () => Result<Found>,
  ): Result<Found> {
    if (attempts.failed >= max) {
      for (const resume of attempts.waiting.splice(0)) resume();
      throw tooMany(`${max} requests without a valid access token in a minute`, attempts.end);
    }
    if (attempts.failed + attempts.running >= max) {
      const turn = new Promise<void>((resolve) => attempts.waiting.push(resolve));
      return turn.then(() => authenticate(attempts, look));
    }
    const result = look();
    if (!(result instanceof Promise)) {
      if (!result) attempts.failed++;
      return result;
    }
    attempts.running++;
    return result
      .then(
        (principal) => {
          if (!principal) attempts.failed++;
          return principal;
        },
        (error) => {
          if (toHttpError(error).kind === 'tokenInvalid') attempts.failed++;
          throw error;
        },
      )
      .finally(() => {
        attempts.running--;
        attempts.waiting.shift()?.();
      });
  }
}
