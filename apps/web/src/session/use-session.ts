import { useCallback, useEffect, useState } from 'react';
import { replaceAddress } from '../ui/address.ts';

/** The key contains the path, because stores at different paths of one origin have different tokens. */
const key = `plant-store.token ${new URL('.', document.baseURI).pathname}`;

/** Connects the tabs of this browser that show this store. A page of another origin cannot listen. */
const tabs = new BroadcastChannel(key);

/** A new tab waits for a token from another tab for this number of milliseconds. */
const patience = 250;

interface Session {
  readonly token?: string | undefined;
  /** Whether the console still asks other tabs for a token. */
  readonly isLooking?: boolean;
  /** The reason why the store rejects the token. The console stays open, and asks for another token. */
  readonly rejected?: string;
}

/** Returns the access token of this tab, and functions that change the token. */
export function useSession() {
  const [session, setSession] = useState<Session>(() => {
    const token = takeTokenFromLink() ?? readToken();
    return { token, isLooking: token === undefined };
  });
  const { token, isLooking, rejected } = session;
  const isAccepted = token !== undefined && rejected === undefined;

  const enter = useCallback((next: string, isForBrowser: boolean) => {
    keepToken(next, isForBrowser);
    setSession({ token: next });
  }, []);
  const signOut = useCallback(() => {
    forgetToken();
    setSession({});
  }, []);
  const reject = useCallback((reason: string) => {
    forgetToken();
    setSession((latest) => (latest.token === undefined ? {} : { ...latest, rejected: reason }));
  }, []);
  useEffect(() => {
    // The user may open a link with a token in a tab that already shows the console.
    const onHashChange = () => {
      const linked = takeTokenFromLink();
      if (linked !== undefined) setSession({ token: linked });
    };
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, []);
  useEffect(() => {
    // When the user opens a link in a new tab, the new tab asks the other tabs for the token.
    tabs.onmessage = ({ data }: MessageEvent<{ token?: string }>) => {
      if (isAccepted && !data.token) tabs.postMessage({ token });
      if (isLooking && data.token) enter(data.token, isKeptOnBrowser());
    };
    if (!isLooking) return;
    tabs.postMessage({});
    const timer = setTimeout(setSession, patience, {});
    return () => clearTimeout(timer);
  }, [token, isAccepted, isLooking, enter]);
  return { ...session, enter, reject, signOut };
}

/**
 * Returns the token of a link (`#token=…`), and removes the token from the address bar and the history. The
 * other parts of the address stay.
 */
function takeTokenFromLink(): string | undefined {
  // A token may contain a plus, but URLSearchParams reads a plus as a space.
  const fragment = location.hash.slice(1).replaceAll('+', '%2B');
  const token = new URLSearchParams(fragment).get('token');
  if (token === null) return undefined;
  keepToken(token, false);
  replaceAddress({});
  return token || undefined;
}

function readToken(): string | undefined {
  return sessionStorage.getItem(key) ?? localStorage.getItem(key) ?? undefined;
}

/** Keeps the token until the tab closes, or on this browser until the user signs out. */
export function keepToken(token: string, isForBrowser: boolean): void {
  forgetToken();
  sessionStorage.setItem(key, token);
  if (isForBrowser) localStorage.setItem(key, token);
}

/** Whether this browser keeps the token after the tab closes. */
export function isKeptOnBrowser(): boolean {
  return localStorage.getItem(key) !== null;
}

function forgetToken(): void {
  sessionStorage.removeItem(key);
  localStorage.removeItem(key);
}
