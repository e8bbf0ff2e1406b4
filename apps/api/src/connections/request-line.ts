/** The request line of a request for which Node emitted no event. */
export interface RequestLine {
  readonly method?: string | undefined;
  /** The first segment of the target's path, which shows whether the client uses REST or tRPC. */
  readonly url?: string | undefined;
  /** Whether the packet contains the request line up to its end. */
  readonly isComplete?: boolean;
}

/**
 * Finds the last request line of HTTP/1 (RFC 9112 §3). Searches up to the end of the line in which Node's
 * parser stopped.
 */
export function requestLineIn(packet: Buffer, at: number): RequestLine | undefined {
  const lineEnd = packet.indexOf('\n', at);
  const text = packet.toString('latin1', 0, lineEnd < 0 ? undefined : lineEnd + 1);
  const last = [...text.matchAll(requestLine)].at(-1);
  return last && { method: last[1], url: last[2], isComplete: last[3] !== undefined };
}

/**
 * Matches a request line. The end of an earlier request's body may stand before the request line. `^` also
 * matches after U+2028 and U+2029. The expression excludes both characters, so that it runs in linear time.
 */
const requestLine =
  /^(?:[^ \r\n\u2028\u2029]*[^ \r\n\u2028\u2029!#$%&'*+.^_`|~\w-])?([!#$%&'*+.^_`|~\w-]+) (?:(?:https?:\/\/[^ /?#]*)?(\/[!-.0->@-~\x80-\xff]*\/?)|https?:|\*)[!-~\x80-\xff]*( HTTP\/1\.\d\r?\n)?/gim;
