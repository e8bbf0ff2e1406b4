import { expect, it, onTestFinished, vi } from 'vitest';
import { EventStream } from '../src/event-stream.ts';

it('reads a stream whose first byte arrives after a minute, because a proxy buffers the stream', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const headers = { 'content-type': 'text/event-stream' };
  const response = new Response('data: 1\nid: a\n\n', { headers });
  const fetch = (_: string, { signal }: RequestInit) =>
    new Promise<Response>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason));
      setTimeout(() => resolve(response), 60_000);
    });
  const stream = new EventStream('http://store.test', { canStream: true, headers: {}, fetch });
  const received = vi.fn();
  stream.addEventListener('message', received);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(received).toHaveBeenCalledWith({ data: '1', lastEventId: 'a' });
});
