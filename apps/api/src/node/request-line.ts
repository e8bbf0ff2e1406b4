import { METHODS } from './node-http.ts';

/** The method of a request, and the start of its target. */
export interface RequestLine {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
}

/**
 * Finds the last request line in the bytes up to the line in which Node's parser stopped. Its `url` ends
 * with the first part of the path, which names the surface. Empty when the bytes have none.
 *
 * @param packet the bytes that the parser got last
 * @param at the position at which it stopped
 */
export function requestLineIn(packet: Buffer, at: number): RequestLine {
  const lineEnd = packet.indexOf('\n', at);
  const text = packet.toString('latin1', 0, lineEnd < 0 ? undefined : lineEnd);
  const [, method, url] = [...text.matchAll(startOfLine)].at(-1) ?? [];
  return { method, url };
}

/** The host of a target in absolute form is left out (RFC 9112 §3.2.2). */
const startOfLine = /^([!#$%&'*+.^_`|~\w-]+) (?:https?:\/\/[^/?#\s]*)?(\/[^/?#\s]*\/?)/gim;

/**
 * Finds the method of a request that Node's parser rejected because it does not know the method;
 * undefined when the bytes are not a request line of HTTP/1 (RFC 9112 §3).
 *
 * @param packet the bytes that the parser got last
 * @param at the position in the request line at which it stopped
 */
export function unknownMethodIn(packet: Buffer, at: number): string | undefined {
  const start = packet.subarray(0, at).lastIndexOf('\n') + 1;
  const line = packet.toString('latin1', start, start + maxLength);
  const method = requestLine.exec(line)?.[1];
  // The parser did not reject a method that it knows, but the bytes before it.
  return method && !METHODS.includes(method) ? method : undefined;
}

/** Node accepts as many bytes in all headers. */
const maxLength = 16 * 1024;

/** A request line, and before it the last line of an earlier request's body. */
const requestLine =
  /^(?:[^ \r\n]*[^ \r\n!#$%&'*+.^_`|~\w-])?([!#$%&'*+.^_`|~\w-]+) [!-~\x80-\xff]+ HTTP\/1\.\d\r?\n/;
