import { useSyncExternalStore } from 'react';

export type SharedState<Value> = ReturnType<typeof sharedState<Value>>;

/** A value outside the views. Each view that uses the value is rendered again after a change. */
export function sharedState<Value>(value: Value) {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next: Value): void {
      value = next;
      for (const notify of listeners) notify();
    },
    subscribe(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export function useSharedState<Value>({ get, subscribe }: SharedState<Value>): Value {
  return useSyncExternalStore(subscribe, get);
}
