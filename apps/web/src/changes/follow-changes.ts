import { type PlantStoreClient, plantStoreError } from '@plant-store/client';
import type { PlantChange, PlantChanges } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { refreshPlants, serverState } from '../store/query-client.ts';
import { useTRPCClient } from '../store/trpc.ts';
import { setFeedState } from './feed-state.ts';
import { noteChanges, updatePage } from './update-page.ts';

/**
 * The least number of milliseconds between two updates. The pause keeps the page fast while another client
 * imports plants.
 */
const interval = 250;

/**
 * The page reports an interruption after this number of milliseconds. Shorter interruptions are normal,
 * because the store ends each connection from time to time.
 */
const patience = 5_000;

/** Keeps the plants on the page current if the token may read plants. */
export function useChanges(mayRead: boolean): void {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  useEffect(
    () => (mayRead ? followChanges(client, queryClient) : undefined),
    [client, queryClient, mayRead],
  );
}

/**
 * Follows the feed of changes while the tab is visible. Over HTTP/1.1, all tabs of a browser share six
 * connections to a store. A hidden tab must not use one of the six connections.
 */
function followChanges(client: PlantStoreClient, queryClient: QueryClient): () => void {
  const updates = collectUpdates((changes) => updatePage(queryClient, changes));
  let cursor: string | undefined;
  let subscription: { unsubscribe(): void } | undefined;
  let interruption: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    if (subscription) return;
    const input = cursor === undefined ? {} : { after: cursor };
    let isFirst = true; // Whether the next response is the first response after an interruption.
    subscription = client.plantChanges.subscribe(input, {
      onData({ data }) {
        const isStart = cursor === undefined;
        const isFarBehind = isFirst && data.changes.length >= maxPageSize;
        isFirst = false;
        cursor = isFarBehind ? undefined : data.next;
        if (isFarBehind) {
          // Loading the lists again is faster than reading all missed changes.
          close();
          return open();
        }
        if (isStart) {
          setLive();
          // The page may have loaded the lists before the feed began, so the lists may lack changes.
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
      // When the token has caused the error, the response to `whoAmI` is an error, too.
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
      noteChanges(changes);
      waiting.push(...changes);
      timer ??= setTimeout(flush, lastUpdate + interval - performance.now());
    },
    stop: () => clearTimeout(timer),
  };
}
