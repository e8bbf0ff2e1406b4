import { TRPCClientError } from '@trpc/client';
import superjson from 'superjson';
import { timeoutError } from './plant-store-error.ts';

interface EventStreamOptions {
  /** Whether the platform can read a response before the response ends. False on React Native. */
  canStream: boolean;
  headers: Record<string, string>;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * The response must begin within this number of milliseconds. A proxy that buffers a stream may send its first
 * byte only when the stream ends. The server ends each stream within a minute.
 */
const connectTimeout = 70_000;

/**
 * The `EventSource` for tRPC's `httpSubscriptionLink`. The platform's own `EventSource` cannot send the
 * access token in a header, and hides the error of a response. An `EventStream` connects only once.
 */
export class EventStream {
  readonly CONNECTING = 0;
  readonly OPEN = 1;
  readonly CLOSED = 2;
  readyState: number = this.CONNECTING;
  readonly #listeners = new Map<string, (event: object) => void>();
  readonly #connection = new AbortController();

  constructor(url: string, { canStream, headers, fetch }: EventStreamOptions) {
    const { signal } = this.#connection;
    const connect = async () => {
      if (!canStream) throw noStreamError();
      return fetch(url, { headers, signal });
    };
    this.#read(connect).catch((error: object) => {
      if (this.readyState === this.CLOSED) return;
      this.close();
      this.#listeners.get('error')?.(error);
    });
  }

  /** A second listener for the same type replaces the first: tRPC adds only one listener for each type. */
  addEventListener(type: string, listener: (event: object) => void): void {
    this.#listeners.set(type, listener);
  }

  removeEventListener(type: string): void {
    this.#listeners.delete(type);
  }

  close(): void {
    this.readyState = this.CLOSED;
    this.#connection.abort();
  }

  async #read(connect: () => Promise<Response>): Promise<never> {
    const body = await this.#open(connect);
    this.readyState = this.OPEN;
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let text = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new Error('the store ended the connection');
      const part = decoder.decode(value, { stream: true });
      text += part;
      // A long line may arrive in many parts. Only a part with a line break can end an event.
      if (!part.includes('\n')) continue;
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) this.#dispatch(event);
    }
  }

  async #open(connect: () => Promise<Response>): Promise<ReadableStream<Uint8Array>> {
    const timer = setTimeout(
      () => this.#connection.abort(timeoutError(connectTimeout)),
      connectTimeout,
    );
    try {
      const response = await connect();
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      if (!response.ok || !isStream) throw await errorOf(response);
      if (!response.body) throw noStreamError();
      return response.body;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Reads the lines of an event. tRPC writes each line in the form `data: {}`. */
  #dispatch(text: string): void {
    const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: ?(.*)/s)));
    const { event = 'message', data, id: lastEventId } = fields;
    if (data !== undefined) this.#listeners.get(event)?.({ data, lastEventId });
  }
}

function noStreamError(): Error {
  const error = new Error('this platform cannot read a stream of events: use followChanges');
  return Object.assign(error, { name: 'NoStreamError' });
}

async function errorOf(response: Response): Promise<TRPCClientError<never>> {
  const responseJSON: unknown = await response.json().catch(() => undefined);
  const { error } = Object(responseJSON);
  const meta = { response, responseJSON };
  if (error === undefined) {
    const message = `the response with status ${response.status} is not from a plant store`;
    return TRPCClientError.from(new Error(message), { meta });
  }
  return TRPCClientError.from({ error: superjson.deserialize(error) }, { meta });
}
