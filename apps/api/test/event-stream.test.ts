import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { limitMemory } from '../src/requests/memory/limit-memory.ts';
import { eventStream } from '../src/surfaces/send-events.ts';

const timers = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

beforeEach(() => void vi.useFakeTimers({ toFake: [...timers] }));
afterEach(() => void vi.useRealTimers());

/** Makes a stream of the parts that `nextPart` returns. */
function start(nextPart: () => Promise<Buffer>, memory = limitMemory(2 ** 21)) {
  const connection = new AbortController();
  // The cast is safe, because the stream reads only these properties.
  const request = { server: { memory }, pageBytes: 0 } as FastifyRequest;
  const format = { ping: ':\n\n', writeError: () => undefined };
  return { stream: eventStream(request, format, nextPart, connection), connection };
}

const never = () => new Promise<never>(() => {});

it('sends a ping every ten seconds while no plant changes, and ends the stream within a minute', async () => {
  const { stream, connection } = start(never);
  const parts: string[] = [];
  stream.on('data', (part) => parts.push(String(part)));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(parts).toEqual(Array(2).fill(':\n\n'));
  expect(connection.signal.aborted).toBe(false);
  const ended = vi.fn();
  stream.on('end', ended);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(ended).toHaveBeenCalledOnce();
  expect(connection.signal.aborted).toBe(true);
  // The client of tRPC does not connect again after an event `return`.
  expect(parts.join('')).not.toContain('return');
  expect(vi.getTimerCount()).toBe(0);
});

it('gets the second page only after the client has read the first page', async () => {
  const next = vi.fn(async () => Buffer.from('x'.repeat(1_000)));
  const { stream } = start(next);
  const write = vi.fn(); // Nobody reads the stream, so the write of the first page never ends.
  stream.pipe(new Writable({ highWaterMark: 1, write }));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(write).toHaveBeenCalledOnce();
  expect(next).toHaveBeenCalledOnce();
});

it('aborts the wait for changes when the client disconnects', () => {
  const { stream, connection } = start(never);
  stream.resume().destroy();
  expect(connection.signal.aborted).toBe(true);
});

it('ends a stream when the memory budget is full, and counts the memory of a shared page only one time', async () => {
  const budget = limitMemory(2_000);
  const page = Buffer.from('x'.repeat(1_000));
  const release = [1, 2].map(() => budget.countPart(page));
  const other = budget.countPart(Buffer.from('y'));
  expect(budget.countPart(page)).toBeUndefined();
  expect(await text(start(async () => Buffer.from('z'), budget).stream)).toBe('');
  for (const each of [...release, other]) each?.();
  const parts = [Buffer.from('z')];
  const { stream } = start(async () => parts.pop() ?? never(), budget);
  const part = await new Promise((done) => stream.once('data', done));
  expect(String(part)).toBe('z');
  stream.destroy();
});
