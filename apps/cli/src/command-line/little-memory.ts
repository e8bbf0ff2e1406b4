import { setFlagsFromString } from 'node:v8';

/**
 * Lets a command about millions of plants use little memory. It must be called before the store is
 * opened. Node has no other way to set these in a running process.
 */
export function useLittleMemory(): void {
  // Such a command holds few rows at a time and makes millions, for which V8 would use 150 MB more.
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=100');
  // To optimize the largest functions of PGlite, V8 would use 500 MB for some seconds.
  setFlagsFromString('--no-wasm-tier-up');
  setFlagsFromString('--no-wasm-dynamic-tiering');
}
