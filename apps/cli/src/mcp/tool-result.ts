import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import { plantStoreError } from '@plant-store/client';
import { errorAdvice, shorten } from '@plant-store/schemas/plain';

/** The greatest number of bytes in a result. */
export const maxBytes = 20_000;

/** The greatest number of characters of a text in a result. So even the largest plant fits into a result. */
const maxText = 700;

/** What a tool may use while it runs. `signal` aborts when the client cancels the call, and after 30 seconds. */
export type ToolCall = ServerContext['mcpReq'];

/** Runs a tool. What it returns or throws becomes the result, as data and, for older clients, as text. */
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

/** Returns the first items that fit into one result. */
export function fitting<Item>(items: readonly Item[]): readonly Item[] {
  let left = maxBytes - 500; // The result has further properties.
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

/** Makes a signal that aborts with another signal, and after 30 seconds. */
export function withTimeout(signal?: AbortSignal): AbortSignal {
  return AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(30_000)]);
}

/** Says what went wrong, and what to do. */
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
