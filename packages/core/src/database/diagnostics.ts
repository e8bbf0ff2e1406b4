import { channel, type TracingChannel, tracingChannel } from 'node:diagnostics_channel';
import type { Kind } from './database.ts';
import type { Caller } from './deadline.ts';

/** A call of a procedure. `path` is the name of the procedure, if the surface knows the name. */
export interface TracedCall {
  readonly path: string | undefined;
  readonly caller: Caller | undefined;
  readonly error?: unknown;
}

/** A call that waits for a batch. `madeAt` is the start of the wait, on the clock `performance.now()`. */
export interface TracedWait {
  readonly madeAt: number;
  readonly isSettled: boolean;
}

/** The calls that share the statements of a batch. Some calls may already be settled. */
export interface TracedBatch {
  readonly calls: readonly TracedWait[];
}

/** A statement on its connection. */
export interface TracedStatement {
  readonly text: string;
  readonly kind: Kind;
  /** The time at which the statement began to wait for a connection, on the clock `performance.now()`. */
  readonly madeAt: number;
  /** The time at which the statement was sent, on the clock `performance.now()`. */
  readonly startedAt: number;
  /** The address of the database. Undefined for the embedded database and for a Unix socket. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  readonly error?: unknown;
}

export interface TracedPage {
  readonly result?: { readonly changes: readonly string[] };
  readonly error?: unknown;
}

/** An attempt to send a message to a webhook. The URL may contain secrets. */
export interface TracedAttempt {
  readonly url: string;
  readonly result?: { readonly status?: number; readonly error?: string };
  readonly error?: unknown;
}

/**
 * The store publishes its work on these channels. A channel without a subscriber costs nothing, because the
 * store checks `hasSubscribers` before it makes a message.
 */
export const diagnostics = {
  call: tracing<TracedCall>('call'),
  /** Publishes each `TracedWait` at the start of its wait, in the asynchronous context of the caller. */
  wait: channel('plant-store:wait'),
  /**
   * Publishes a `TracedBatch`. A listener can bind an `AsyncLocalStorage` to the channel. The storage then
   * has a value while the statements of the batch run.
   */
  batch: channel('plant-store:batch'),
  statement: tracing<TracedStatement>('statement'),
  page: tracing<TracedPage>('page'),
  attempt: tracing<TracedAttempt>('attempt'),
};

function tracing<Message extends object>(name: string): TracingChannel<unknown, Message> {
  return tracingChannel<unknown, Message>(`plant-store:${name}`);
}

/** Runs `send` as a batch of these calls, so that listeners can relate the statements to the calls. */
export function carry<Call extends TracedWait>(
  calls: Call[],
  send: (calls: Call[]) => Promise<void>,
): Promise<void> {
  if (!diagnostics.batch.hasSubscribers) return send(calls);
  return diagnostics.batch.runStores({ calls }, send, undefined, calls);
}

/** Returns the first operation of a statement, and the table of this operation. */
export function describeStatement(text: string) {
  const [, words = 'select', table] =
    /\b(insert into|delete from|update|from) "?(\w+)/.exec(text) ?? [];
  const [first = ''] = words.split(' ');
  return { operation: first === 'from' ? 'SELECT' : first.toUpperCase(), table };
}
