import { type ErrorCode, type ErrorKind, errorCatalogue } from '@plant-store/schemas';
import type { ZodError } from 'zod';
import { rootMessage } from './error-causes.ts';

/** The errors of the catalogue that the store itself throws. */
export type PlantStoreErrorKind = Extract<
  ErrorKind,
  'invalidInput' | 'idTaken' | 'databaseUnavailable' | 'overloaded' | 'shuttingDown'
>;

/**
 * What the store throws. `kind` names the error in the catalogue and `message` may be shown to the
 * client; `cause` is for the operator alone.
 */
export class PlantStoreError extends Error {
  override readonly name = 'PlantStoreError';
  readonly kind: PlantStoreErrorKind;

  constructor(kind: PlantStoreErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }

  /** The error code in the catalogue. */
  get code(): ErrorCode {
    return errorCatalogue[this.kind].code;
  }

  /** Why it happened, for the operator: what the database or the network said. */
  get reason(): string {
    return rootMessage(this);
  }
}

/** The id belongs to another plant, which stays unchanged. */
export function idTaken(id: bigint): PlantStoreError {
  const message = `id ${id} belongs to another plant: choose an id that is free`;
  return new PlantStoreError('idTaken', message);
}

/** The input does not fit its schema; the message names each field and what is wrong with it. */
export function invalidInput(cause: ZodError): PlantStoreError {
  const issues = cause.issues.map(({ path, message }) => `${path.join('.') || 'it'} ${message}`);
  return new PlantStoreError('invalidInput', `invalid input: ${issues.join('; ')}`, { cause });
}
