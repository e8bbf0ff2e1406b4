import { fstatSync } from 'node:fs';

/** The milliseconds between two checks of standard output. */
const interval = 500;

const stdout = 1;

/**
 * Ends a read-only command with code 0 when the reader of its output closes the pipe. Without this function,
 * a command that writes nothing more would never notice the closed pipe.
 */
export async function exitWhenOutputCloses(): Promise<void> {
  if (!fstatSync(stdout).isFIFO()) return;
  const hasError = await createPoll();
  setInterval(() => hasError() && process.exit(), interval).unref();
}

/**
 * Makes a function that polls standard output for an error. The function finds no error on macOS or Windows.
 *
 * `poll_oneoff` of WASI is the only function of Node that can poll any file descriptor. The arguments are
 * addresses in a WebAssembly memory (https://github.com/WebAssembly/WASI/blob/wasi-0.1/preview1/docs.md).
 */
async function createPoll(): Promise<() => boolean> {
  const { emitWarning } = process;
  process.emitWarning = () => {}; // Node would warn that the module `node:wasi` is experimental.
  const { WASI } = await import('node:wasi');
  process.emitWarning = emitWarning;
  // Node's types lack this constructor.
  const { Memory } = Reflect.get(globalThis, 'WebAssembly') as { Memory: MemoryConstructor };
  const memory = new Memory({ initial: 1 });
  const wasi = new WASI({ version: 'preview1', stdout });
  wasi.initialize({ exports: { memory } });
  const poll = wasi.wasiImport['poll_oneoff'] as (...addresses: number[]) => number;
  const view = new DataView(memory.buffer);
  // Each poll waits until standard output accepts bytes or has an error, but waits at most a millisecond.
  view.setUint8(type, writable);
  view.setUint32(fileDescriptor, stdout, true);
  view.setUint32(subscriptionSize + clockId, monotonic, true);
  view.setBigUint64(subscriptionSize + timeout, 1_000_000n, true);

  return () =>
    poll(0, events, 2, eventCount) === 0 &&
    view.getUint8(events + eventType) === writable &&
    view.getUint16(events + errno, true) !== 0;
}

type MemoryConstructor = new (pages: { initial: number }) => { buffer: ArrayBuffer };

/** The size of a subscription, and the offsets of its fields. All other bytes of a subscription stay zero. */
const [subscriptionSize, type, fileDescriptor, clockId, timeout] = [48, 8, 16, 16, 24];
const [writable, monotonic] = [2, 1];

/**
 * The address of the events, the address of the number of events, and the offsets of two fields in an event.
 */
const [events, eventCount, errno, eventType] = [1_024, 2_048, 8, 10];
