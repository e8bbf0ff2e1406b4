import type { operations } from '@plant-store/schemas';

/** A call of a procedure, as the page made it. */
export interface StoreRequest {
  /** Counts the requests of this page. */
  readonly number: number;
  readonly procedure: keyof typeof operations;
  readonly input: Readonly<Record<string, unknown>>;
  readonly at: Date;
}
