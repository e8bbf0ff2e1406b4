import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { WebhookAttempt } from '@plant-store/schemas';
import { databaseCode, rootMessage } from '../plant-store-error.ts';
import { type AllowedTargets, explainUrl, findAddresses } from './addresses.ts';

/** The outcome of a request, with the seconds in the response header `Retry-After`. */
type Outcome = WebhookAttempt & { readonly retryAfter?: number | undefined };

interface Options {
  readonly allowed: AllowedTargets;
  readonly signal?: AbortSignal | undefined;
}

/** A message to an endpoint, which the secret signs. */
export interface Message {
  readonly id: string;
  readonly body: string;
  readonly secret: string;
}

/** The maximum number of milliseconds before the response begins. */
const timeout = 15_000;

/** The maximum number of bytes to read from a response. */
const maxResponse = 1_024;

/** The store respects `Retry-After` only in responses with these statuses. */
const waitsFor = [429, 502, 503, 504];

// With `autoSelectFamily`, Node always asks `lookup` for a list of addresses. By default, Node gives up an
// address after 250 ms, which is too short for a distant endpoint or a lost packet. The machine may be unable
// to reach the other addresses, for example over IPv6.
const connecting = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 3_000 };

// Unlike Node's global agents, these agents ignore the proxies in environment variables.
const transports = {
  http: { request: http.request, agent: new http.Agent({ keepAlive: true }) },
  https: { request: https.request, agent: new https.Agent({ keepAlive: true }) },
};

/**
 * Sends a message to an endpoint. Follows no redirect. The promise is rejected only when the signal is aborted.
 */
export async function post(
  text: string,
  message: Message,
  { allowed, signal }: Options,
): Promise<Outcome> {
  const at = new Date();
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  const late = AbortSignal.timeout(timeout);
  const either = signal ? AbortSignal.any([signal, late]) : late;
  try {
    const fault = explainUrl(text, allowed);
    if (fault !== undefined) throw new Error(`the URL ${fault}`);
    const response = await send(new URL(text), message.body, signed(message), {
      allowed,
      signal: either,
    });
    const { statusCode: status = 0 } = response;
    const milliseconds = elapsed();
    const content = await readStart(response);
    if (status >= 200 && status < 300) return { at, id: message.id, status, milliseconds };
    const retryAfter = waitsFor.includes(status) ? secondsOf(response) : undefined;
    const error = `status ${status} ${content}`.trimEnd();
    return { at, id: message.id, status, milliseconds, error, retryAfter };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = late.aborted ? 'no response within 15 s' : rootMessage(error);
    return { at, id: message.id, milliseconds: elapsed(), error: reason };
  }
}

async function send(
  url: URL,
  body: string,
  signed: Record<string, string>,
  { allowed, signal }: Options,
  mayReuse = true,
): Promise<IncomingMessage> {
  const transport = url.protocol === 'https:' ? transports.https : transports.http;
  const agent = mayReuse && transport.agent;
  const headers = {
    ...signed,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'plant-store-webhook',
  };
  const lookup: LookupFunction = (_host, _options, callback) =>
    void findInTurn(url, { allowed, signal }).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  const options = { ...connecting, method: 'POST', agent, lookup, headers, signal };
  const request = transport.request(url, options).end(body);
  // Without this listener, an error after the start of the response would end the process.
  request.on('error', () => {});
  try {
    // For status 101, Node emits neither `response` nor `error`. The signal then ends the wait.
    const [response] = await once(request, 'response', { signal });
    return response;
  } catch (error) {
    // The endpoint may close an idle connection just when the request is sent
    // (https://nodejs.org/api/http.html#requestreusedsocket), or all its idle connections.
    const isClosed = request.reusedSocket && databaseCode(error) === 'ECONNRESET';
    if (!isClosed) throw error;
    return send(url, body, signed, { allowed, signal }, false);
  }
}

let lastLookup: Promise<unknown> = Promise.resolve();

/**
 * Looks up one host at a time. Node runs only two look-ups at once, and the connections to the database also
 * need look-ups, which would wait behind a hundred hosts when the name server does not respond.
 */
function findInTurn(url: URL, { allowed, signal }: Options) {
  const found = lastLookup.then(() => {
    signal?.throwIfAborted();
    return findAddresses(url, allowed);
  });
  lastLookup = found.catch(() => {});
  return found;
}

/**
 * Returns the start of a response as text. Removes U+0000, which Postgres cannot store. Closes the connection
 * when the response is longer than `maxResponse`.
 */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxResponse) break;
    }
  } catch {
    // When the end of a response is lost, the status of the response is still valid.
  }
  return Buffer.concat(chunks).subarray(0, maxResponse).toString().replaceAll('\0', '');
}

/** Returns the seconds in `Retry-After` (RFC 9110 §10.2.3), limited to one day. */
function secondsOf({ headers: { 'retry-after': text = '' } }: IncomingMessage): number | undefined {
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), 86_400);
}

/** Makes the headers of Standard Webhooks 1.0. */
function signed({ id, body, secret }: Message): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac}`,
  };
}
