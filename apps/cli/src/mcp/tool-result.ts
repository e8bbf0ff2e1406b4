import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { plantStoreError } from '@plant-store/client';
import { errorAdvice, shorten } from '@plant-store/schemas/plain';

/** The greatest number of bytes in a result. */
export const maxBytes = 20_000;

/** Longer texts are cut to this number of characters, so that even the largest plant fits into a result. */
const maxText = 700;

/** The context of a running tool. `signal` aborts after 30 seconds, or when the client cancels the call. */
export type ToolCall = ServerContext['mcpReq'];

/**
 * Runs a tool. The returned object or the thrown error becomes the result. A result contains the object as
 * data and, for older clients, as text.
 */
export async function toolResult(
  { mcpReq }: ServerContext,
  run: (call: ToolCall) => Promise<object>,
): Promise<CallToolResult> {
  try {
    const text = toJson(await run({ ...mcpReq, signal: withTimeout(mcpReq.signal) }));
    return { content: [{ type: 'text', text }], structuredContent: JSON.parse(text) };
  } catch (error) {
    return { content: [{ type: 'text', text: toJson(explainError(error)) }], isError: true };
  }
}

/** Returns the first items, as many as fit into one result. */
export function fitting<Item>(items: readonly Item[]): readonly Item[] {
  let left = maxBytes - 500; // The other properties of the result take at most 500 bytes.
  const end = items.findIndex((item) => {
    const json = toJson(item);
    left -= Buffer.byteLength(json) + Buffer.byteLength(JSON.stringify(json));
    return left < 0;
  });
  return end < 0 ? items : items.slice(0, end);
}

/** Writes ids as texts of digits, and cuts long texts. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => {
    if (typeof each === 'bigint') return String(each);
    return typeof each === 'string' ? shorten(each, maxText) : each;
  });
}

/** Makes a signal that aborts after 30 seconds, or when the given signal aborts. */
export function withTimeout(signal?: AbortSignal): AbortSignal {
  return AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(30_000)]);
}

/** Describes an error, and says what to do. */
export function explainError(thrown: unknown) {
  const error = plantStoreError(thrown);
  if (error?.code !== undefined) {
    return { error: error.code, message: error.message, action: errorAdvice(error.kind).action };
  }
  const { message } = error ?? (thrown instanceof Error ? thrown : new Error(String(thrown)));
  const isLate = /abort|timeout/i.test(message);
  return {
    message: isLate ? 'the plant store did not respond within 30 seconds' : message,
    action: 'repeat a read or a create, and read the plant before you repeat a delete',
  };
}
