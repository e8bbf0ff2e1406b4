import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { WebhookAttempt } from '@plant-store/schemas';
import { rootMessage } from '../plant-store-error.ts';
import { type AllowedTargets, explainUrl, findAddresses } from './addresses.ts';

/** A message to an endpoint, and the secret that signs it. */
export interface Message {
  readonly id: string;
  readonly body: string;
  readonly secret: string;
}

/** The maximum duration of an attempt, in milliseconds. */
const timeout = 15_000;

/** The maximum number of bytes to read from a response. */
const maxResponse = 1_024;

/**
 * Sends a message to an endpoint. Follows no redirect. The promise is rejected only when the signal is aborted.
 */
export async function post(
  url: string,
  message: Message,
  { allowed, signal }: { allowed: AllowedTargets; signal?: AbortSignal },
): Promise<WebhookAttempt> {
  const start = { at: new Date(), id: message.id };
  const startedAt = performance.now();
  const elapsed = () => ({ milliseconds: Math.round(performance.now() - startedAt) });
  const late = AbortSignal.timeout(timeout);
  try {
    const fault = explainUrl(url, allowed);
    if (fault !== undefined) throw new Error(`the URL ${fault}`);
    const either = signal ? AbortSignal.any([signal, late]) : late;
    const response = await send(new URL(url), message, allowed, either);
    const { statusCode: status = 0 } = response;
    const outcome = { ...start, status, ...elapsed() };
    const content = await readStart(response);
    if (status >= 200 && status < 300) return outcome;
    return { ...outcome, error: `status ${status} ${content}`.trimEnd() };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = late.aborted ? 'no response within 15 s' : rootMessage(error);
    return { ...start, ...elapsed(), error: reason };
  }
}

/** Sends a request, and returns the response when its headers have arrived. */
async function send(
  url: URL,
  message: Message,
  allowed: AllowedTargets,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const { request: requestBy } = url.protocol === 'https:' ? https : http;
  // Node looks up a host name by this function, and so connects only to addresses that `findAddresses` returns.
  const lookup: LookupFunction = (_host, _options, callback) =>
    void findAddresses(url, allowed).then(
      (addresses) => callback(null, addresses),
      (error) => callback(error, []),
    );
  const request = requestBy(url, {
    method: 'POST',
    headers: {
      ...signed(message),
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(message.body),
      'user-agent': 'plant-store-webhook',
    },
    // Each message has a new connection, because an endpoint may close an idle connection at any time.
    agent: false,
    lookup,
    signal,
    // With `autoSelectFamily`, Node asks `lookup` for a list. The default of 250 ms per address is too short.
    ...{ autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 3_000 },
  });
  // Without this listener, an error after the start of the response would stop the process.
  request.on('error', () => {});
  request.end(message.body);
  // For status 101, Node emits neither `response` nor `error`. The signal then ends the wait.
  const [response] = await once(request, 'response', { signal });
  return response;
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
