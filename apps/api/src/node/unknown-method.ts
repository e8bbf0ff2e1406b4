import { METHODS } from './node-http.ts';

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
