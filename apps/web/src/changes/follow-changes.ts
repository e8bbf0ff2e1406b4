import { type PlantStoreClient, plantStoreError } from '@plant-store/client';
import type { PlantChange, PlantChanges } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { refreshPlants, serverState } from '../store/query-client.ts';
import { useTRPCClient } from '../store/trpc.ts';
import { setFeedState } from './feed-state.ts';
import { updatePage } from './update-page.ts';

/**
 * Between two updates of the plants, at least this number of milliseconds passes. The pause keeps the console
 * fast while another client imports plants.
 */
const interval = 250;

/**
 * The console reports an interruption of the feed after this number of milliseconds. Shorter interruptions
 * are normal, because the store ends each connection from time to time.
 */
const patience = 5_000;

/** If the token may read plants, keeps the shown plants current. */
export function useChanges(mayRead: boolean): void {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  useEffect(
    () => (mayRead ? followChanges(client, queryClient) : undefined),
    [client, queryClient, mayRead],
  );
}

/**
 * Receives changes from the feed while the tab is visible. All tabs of a browser share six HTTP/1.1
 * connections to a store, so a hidden tab must use no connection.
 */
function followChanges(client: PlantStoreClient, queryClient: QueryClient): () => void {
  const updates = collectUpdates((changes) => updatePage(queryClient, changes));
  let cursor: string | undefined;
  let subscription: { unsubscribe(): void } | undefined;
  let interruption: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    if (subscription) return;
    const input = cursor === undefined ? {} : { after: cursor };
    let isFirst = true; // True until the feed sends changes after a start or an interruption.
    subscription = client.plantChanges.subscribe(input, {
      onData({ data }) {
        const isStart = cursor === undefined;
        const isFarBehind = isFirst && data.changes.length >= maxPageSize;
        isFirst = false;
        cursor = isFarBehind ? undefined : data.next;
        if (isFarBehind) {
          // The tab has missed many changes: loading the lists again is faster than reading the changes.
          close();
          return open();
        }
        if (isStart) {
          setLive();
          // Lists that were loaded before the start of the feed may lack changes.
          void refreshPlants(queryClient);
        }
        updates.add(data);
      },
      onConnectionStateChange({ state, error }) {
        if (state === 'pending' && cursor !== undefined) setLive();
        if (!error) return;
        interruption ??= setTimeout(() => {
          isFirst = true;
          setFeedState(queryClient, 'interrupted');
        }, patience);
        void queryClient.invalidateQueries({ queryKey: serverState.queryKey });
      },
      onError: fail,
    });
  }
  function fail(error: unknown): void {
    close();
    const isExpired = plantStoreError(error)?.kind === 'cursorExpired' && cursor !== undefined;
    cursor = undefined;
    if (isExpired) open();
    else {
      setFeedState(queryClient, 'off');
      // If the token has caused the error, a new request of `whoAmI` finds out what is wrong with the token.
      void queryClient.invalidateQueries({ queryKey: [['whoAmI']] });
    }
  }
  function setLive(): void {
    clearTimeout(interruption);
    interruption = undefined;
    setFeedState(queryClient, 'live');
  }
  function close(): void {
    const opened = subscription;
    subscription = undefined;
    clearTimeout(interruption);
    interruption = undefined;
    opened?.unsubscribe();
  }
  const onVisibility = () => (document.visibilityState === 'visible' ? open() : close());

  onVisibility();
  document.addEventListener('visibilitychange', onVisibility);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    close();
    updates.stop();
  };
}

/** Collects changes, and applies all collected changes a few times a second. */
function collectUpdates(update: (changes: readonly PlantChange[]) => void) {
  let waiting: PlantChange[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastUpdate = -interval;
  const flush = () => {
    timer = undefined;
    lastUpdate = performance.now();
    update(waiting);
    waiting = [];
  };
  return {
    add({ changes }: PlantChanges): void {
      if (changes.length === 0) return;
      waiting.push(...changes);
      timer ??= setTimeout(flush, lastUpdate + interval - performance.now());
    },
    stop: () => clearTimeout(timer),
  };
}
