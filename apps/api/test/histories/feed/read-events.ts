import type { Random } from '../random.ts';
import { throwError, throwTrpcError } from './feed-error.ts';
import { type FeedWorld, pickTarget } from './feed-world.ts';

interface StreamEvent {
  event?: string;
  data?: string;
  id?: string;
}

/** Reads events from any instance, as an EventSource does. */
export async function* readEvents(
  world: FeedWorld,
  random: Random,
  path: string,
  after: string,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, void> {
  const { url, token } = pickTarget(world, random);
  const authorization = `Bearer ${token}`;
  const headers = { authorization, accept: 'text/event-stream', 'last-event-id': after };
  const response = await fetch(url + path, { headers, signal });
  if (!response.ok) {
    const body = Object(await response.json());
    if (typeof body.error === 'object') throwTrpcError(body.error);
    throwError(body);
  }
  if (!response.body) throw new Error('no body');
  let text = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (text + chunk).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events)
      yield Object.fromEntries(event.split('\n').map((line) => line.split(/: ?(.*)/s)));
  }
}
