import { useEffect, useSyncExternalStore } from 'react';

/** A notice disappears after this number of milliseconds. */
const shownFor = 6_000;

let latest: { readonly text: string } | undefined;
const listeners = new Set<() => void>();

/** Says the result of an action. A new notice replaces the last one. Without a text, there is no notice. */
export function notify(text?: string): void {
  latest = text === undefined ? undefined : { text };
  for (const tell of listeners) tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The place for notices, over the lower edge of the page. It moves nothing, and lets clicks through. */
export function Notices() {
  const notice = useSyncExternalStore(subscribe, () => latest);
  useEffect(() => {
    const timer = notice && setTimeout(notify, shownFor);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <div role="status" className="notices">
      {notice && <p className="card">{notice.text}</p>}
    </div>
  );
}
