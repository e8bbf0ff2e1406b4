import type { IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { rootMessage } from '../error-causes.ts';
import { type AllowedTargets, explainUrl, lookUpAllowed } from './addresses.ts';

/** The outcome of a request. */
export interface PostOutcome {
  readonly milliseconds: number;
  /** Undefined when the endpoint did not respond. */
  readonly status?: number;
  /** The reason why the request failed. Undefined after a success. */
  readonly error?: string;
  /** The seconds in the response header `Retry-After`. */
  readonly retryAfter?: number | undefined;
}

/** The maximum number of milliseconds before the response begins. */
const timeout = 15_000;

/** The maximum number of bytes to read from a response. */
const maxResponse = 1_024;

// Unlike Node's global agents, these agents ignore the proxies in environment variables.
const [httpAgent, httpsAgent] = [
  new HttpAgent({ keepAlive: true }),
  new HttpsAgent({ keepAlive: true }),
];

/** Sends a body to an endpoint. Follows no redirect. Rejects the promise when the signal is aborted. */
export async function post(
  text: string,
  body: string,
  headers: Record<string, string>,
  { allowed, signal }: { allowed: AllowedTargets; signal?: AbortSignal | undefined },
): Promise<PostOutcome> {
  const startedAt = performance.now();
  const elapsed = () => Math.round(performance.now() - startedAt);
  const late = AbortSignal.timeout(timeout);
  const either = signal ? AbortSignal.any([signal, late]) : late;
  try {
    const fault = explainUrl(text, allowed);
    if (fault !== undefined) throw new Error(`the URL ${fault}`);
    const response = await send(new URL(text), body, headers, allowed, either);
    const { statusCode: status = 0 } = response;
    const milliseconds = elapsed();
    const isSuccess = status >= 200 && status < 300;
    const content = await readStart(response);
    if (isSuccess) return { status, milliseconds };
    const retryAfter = waitsFor.includes(status) ? secondsOf(response) : undefined;
    return { status, milliseconds, error: `status ${status} ${content}`.trimEnd(), retryAfter };
  } catch (error) {
    signal?.throwIfAborted();
    const reason = late.aborted ? 'no response within 15 s' : rootMessage(error);
    return { milliseconds: elapsed(), error: reason };
  }
}

/** The store respects `Retry-After` only with these statuses. */
const waitsFor = [429, 502, 503, 504];

function send(
  url: URL,
  body: string,
  signed: Record<string, string>,
  allowed: AllowedTargets,
  signal: AbortSignal,
  mayRepeat = true,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const isHttps = url.protocol === 'https:';
  const headers = {
    ...signed,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'plant-store-webhook',
  };
  const request = (isHttps ? requestHttps : requestHttp)(url, {
    method: 'POST',
    agent: isHttps ? httpsAgent : httpAgent,
    lookup: lookUpAllowed(url, allowed),
    headers,
    signal,
  });
  request.on('response', resolve).on('error', (error) => {
    // The endpoint may close an idle connection at the moment when the request is sent
    // (https://nodejs.org/api/http.html#requestreusedsocket).
    const isClosed = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
    if (!isClosed || !mayRepeat) return reject(error);
    send(url, body, signed, allowed, signal, false).then(resolve, reject);
  });
  request.end(body);
  return promise;
}

/**
 * Returns the start of a response as text. Removes U+0000, which Postgres cannot store. Closes the connection
 * when the response is longer.
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
    // When the rest of a response is lost, its status is still valid.
  }
  return Buffer.concat(chunks).subarray(0, maxResponse).toString().replaceAll('\0', '');
}

/** Returns the seconds in `Retry-After` (RFC 9110 §10.2.3), limited to one day. */
function secondsOf({ headers: { 'retry-after': text = '' } }: IncomingMessage): number | undefined {
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 0), 86_400);
}
