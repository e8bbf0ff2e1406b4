import { setTimeout } from 'node:timers/promises';

/** Functions of one process that another process may call. */
type Functions = Record<string, (argument: never) => unknown>;

/** Calls a function of the other process. Throws when that process ends, or does not respond in 5 s. */
export type Call<Theirs extends Functions> = <Name extends keyof Theirs & string>(
  name: Name,
  argument: Parameters<Theirs[Name]>[0],
) => Promise<Awaited<ReturnType<Theirs[Name]>>>;

/** The object that talks to the other process: `process` in a worker, or a `Worker` in the primary. */
interface End {
  on(event: 'message', listener: (message: Message) => void): unknown;
  on(event: 'disconnect', listener: () => void): unknown;
  send?(message: Message, handle: undefined, callback: (error: Error | null) => void): unknown;
}

type Message =
  | { call: number; name: string; argument: unknown }
  | { responseTo: number; value?: unknown; error?: string };

/** A call waits for at most this number of milliseconds, because a frozen process never responds. */
const responseTimeout = 5_000;

/**
 * Opens a channel to another process. The other process can then call `ours`, the functions of this process.
 * The returned function calls a function of the other process, which `Theirs` declares.
 */
export function openChannel<Theirs extends Functions>(end: End, ours: Functions): Call<Theirs> {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let lastCall = 0;
  end.on('message', (message) => void receive(message));
  end.on('disconnect', () => {
    for (const { reject } of waiting.values()) reject(new Error('the other process has ended'));
  });

  return async (name, argument) => {
    const call = ++lastCall;
    const response = Promise.withResolvers<unknown>();
    waiting.set(call, response);
    end.send?.({ call, name, argument }, undefined, (error) => error && response.reject(error));
    const timeout = setTimeout(responseTimeout, undefined, { ref: false }).then(() => {
      throw new Error('the other process did not respond');
    });
    try {
      // `Theirs` declares the type of the result.
      return (await Promise.race([response.promise, timeout])) as never;
    } finally {
      waiting.delete(call);
    }
  };

  async function receive(message: Message): Promise<void> {
    if ('responseTo' in message) {
      const response = waiting.get(message.responseTo);
      if (message.error === undefined) response?.resolve(message.value);
      else response?.reject(new Error(message.error));
      return;
    }
    const { call, name, argument } = message;
    // The cast is safe, because the type `Call` checks the argument in the calling process.
    const run = async () => ours[name]?.(argument as never);
    const result = await run().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: String(error) }),
    );
    // The empty function ignores the error that `send` reports when the other process has ended.
    end.send?.({ responseTo: call, ...result }, undefined, () => {});
  }
}
