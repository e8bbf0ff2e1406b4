import { type ErrorKind, errorCatalogue, type Scope, shorten } from '@plant-store/schemas';
import * as z from 'zod';

/**
 * The error class of the store and of its surfaces. `kind` is the name of the error in the catalogue. Clients
 * see `message`. From `cause`, clients see only the messages about invalid fields.
 */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError';
  readonly kind: ErrorKind;
  /** The missing scope, if `kind` is `insufficientScope`. */
  readonly requiredScope: Scope | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    { requiredScope, ...options }: ErrorOptions & { requiredScope?: Scope | undefined } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.requiredScope = requiredScope;
  }

  /** The error code in the catalogue. */
  get code() {
    return errorCatalogue[this.kind].code;
  }

  /** The code of the cause: a SQLSTATE, or the code of a network error. */
  get databaseCode(): string | undefined {
    return databaseCode(this.cause);
  }
}

export function plantUnknown(id: bigint): PlantStoreError {
  return new PlantStoreError('plantUnknown', `no plant has the id ${id}: check the id`);
}

/** The error for a principal that lacks the scope of an operation. */
export function insufficientScope(requiredScope: Scope): PlantStoreError {
  const message = `the access token lacks the scope ${requiredScope}: use a token that has it`;
  return new PlantStoreError('insufficientScope', message, { requiredScope });
}

/**
 * Returns the output of a schema for a value.
 *
 * @throws PlantStoreError `invalidInput` when the value does not match the schema
 */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const { data, error } = schema.safeParse(value);
  if (error) throw invalidInput(error);
  return data;
}

/** The error for input that does not match its schema. The message describes at most `maxIssues` issues. */
export function invalidInput(fault: z.ZodError | string): PlantStoreError {
  if (typeof fault === 'string')
    return new PlantStoreError('invalidInput', `invalid input: ${fault}`);
  const { issues } = fault;
  const told = issues.slice(0, maxIssues).map(({ path, message }) => `${placeOf(path)} ${message}`);
  if (issues.length > maxIssues) told.push(`and ${issues.length - maxIssues} more`);
  const message = `invalid input: ${told.join('; ')}`;
  return new PlantStoreError('invalidInput', message, { cause: fault });
}

/** The maximum number of issues in a message. An invalid list of plants may have thousands of issues. */
export const maxIssues = 10;

/** Formats a path of zod for people, for example as `plants[3].id`. */
const placeOf = (path: PropertyKey[]) => shorten(z.core.toDotPath(path)) || 'it';

/** An error of a library, with the fields of an error of Postgres. */
type LibraryError = Error & { readonly [field in 'code' | 'severity' | 'routine']?: unknown };

/** Returns the innermost cause of an error. Libraries wrap the database's error in their own errors. */
export function rootCause(error: unknown): LibraryError | undefined {
  if (!(error instanceof Error)) return undefined;
  return rootCause(error.cause) ?? error;
}

/** Returns the message of the innermost cause. */
export function rootMessage(error: unknown): string {
  const cause = rootCause(error);
  // Node leaves the message empty when it cannot connect to any of several addresses of one host.
  return cause ? cause.message || String(cause.code ?? cause.name) : String(error);
}

/** Returns the code of the innermost cause: a SQLSTATE such as `22P05`, or a code such as `ECONNREFUSED`. */
export function databaseCode(error: unknown): string | undefined {
  const code = rootCause(error)?.code;
  return typeof code === 'string' ? code : undefined;
}
