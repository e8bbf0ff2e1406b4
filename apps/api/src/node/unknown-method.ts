/**
 * Finds the method of a request that Node's parser rejected because it does not know the method;
 * undefined when the bytes are not a request line of HTTP/1 (RFC 9112 §3).
 *
 * @param packet the bytes that the parser got last
 * @param at the position in the request line at which it stopped
 */
export function unknownMethodIn(packet: Buffer, at: number): string | undefined {
  const start = packet.subarray(0, at).lastIndexOf('\n') + 1;
  return requestLine.exec(packet.toString('latin1', start, start + maxLength))?.[1];
}

/** Node accepts as many bytes in all headers. */
const maxLength = 16 * 1024;

/** A request line, and before it the last line of an earlier request's body. */
const requestLine =
  /^(?:[^ ]*[^ !#$%&'*+.^_`|~\w-])?([!#$%&'*+.^_`|~\w-]+) [!-~\x80-\xff]+ HTTP\/1\.\d\r?\n/;
