import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { shorten } from '@plant-store/schemas';
import { malformed } from '../connections/request-target.ts';

/**
 * Throws when `Host` is missing or invalid (RFC 9112 §3.2), or when `target` has an invalid host.
 *
 * @param target the request target as it was sent
 */
export function checkHost(
  { headers: { host }, httpVersion }: IncomingMessage,
  target: string,
): void {
  if (host === undefined) {
    if (httpVersion !== '1.0') throw malformed('there is no Host header: send one (RFC 9112 §3.2)');
  } else if (host !== lastHost) {
    if (!isHost(host))
      throw malformed(`Host is ${shorten(host)}: send <name>:<port> (RFC 9112 §3.2)`);
    lastHost = host;
  }
  const authority = target.startsWith('/') ? undefined : absoluteForm.exec(target)?.[1];
  // The header `Host` may be empty, but the authority of a URL always has a host (RFC 9110 §4.2.1).
  if (authority !== undefined && (authority === '' || !isHost(authority))) {
    throw malformed(`the host in the target ${shorten(target)} is not valid (RFC 9110 §4.2)`);
  }
}

/** The latest valid `Host`. Most requests have the same `Host`, which the server checks only once. */
let lastHost = '';

const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/**
 * Whether a text is `uri-host [ ":" port ]`, with the host of RFC 3986 §3.2.2. A text with a comma is
 * invalid, because a comma joins the values of two headers.
 */
function isHost(text: string): boolean {
  if (text === '') return true;
  const { name, address, port } = hostSyntax.exec(text)?.groups ?? {};
  if (Number(port) > 65_535) return false;
  return name !== undefined || (address !== undefined && isIPv6(address));
}

const hostSyntax =
  /^(?:(?<name>(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})+)|\[(?<address>[\da-f:.]+)\])(?::(?<port>\d*))?$/i;
