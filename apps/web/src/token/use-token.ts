import { useCallback, useEffect, useState } from 'react';
import { replace } from '../address/use-address.ts';
import { forgetText, keepText, readText } from '../controls/tab-storage.ts';
import { explainError, noResponse } from '../store/explain-error.ts';
import { baseUrl } from '../store/trpc.ts';

const key = 'plant-store.token';

interface TokenState {
  token: string | null;
  /** Whether the page is exchanging a code for the token. */
  isSigningIn?: boolean;
  /** The reason why the earlier token no longer works. */
  reason?: string;
}

/** Returns the access token of this tab, and the functions that change the token. */
export function useToken() {
  const [state, setState] = useState<TokenState>(() => ({
    token: takeToken(),
    isSigningIn: hasCode(),
  }));

  const enter = useCallback((token: string) => {
    keepToken(token);
    setState({ token });
  }, []);
  useEffect(() => {
    const readAddress = () => {
      if (!hasCode()) return setState({ token: takeToken() });
      exchangeCode().then(enter, (error) =>
        setState(({ token }) => ({ token, reason: explainError(error) })),
      );
    };
    if (hasCode()) readAddress();
    // A tab that already shows the console can get a link with a token or a code.
    addEventListener('hashchange', readAddress);
    return () => removeEventListener('hashchange', readAddress);
  }, [enter]);
  // When a response to an earlier token is late, the current token must stay.
  const forget = useCallback((token: string, reason?: string) => {
    forgetToken(token);
    setState((latest) =>
      latest.token === token ? { token: null, ...(reason !== undefined && { reason }) } : latest,
    );
  }, []);
  return { ...state, enter, forget };
}

/**
 * Returns the access token of this browser tab, or null. Stores a token from the address (`#token=…`), and
 * removes the token from the address bar and the history at once.
 */
function takeToken(): string | null {
  // A token may contain a plus, which URLSearchParams reads as a space.
  const fragment = location.hash.slice(1).replaceAll('+', '%2B');
  const token = new URLSearchParams(fragment).get('token');
  if (token) {
    keepToken(token);
    replace({}); // The address keeps the filter and the open view.
  }
  return readText(key);
}

/** Keeps the token until the tab closes. */
function keepToken(token: string): void {
  keepText(key, token);
}

/** Forgets the token, unless this tab has another token. */
function forgetToken(token: string): void {
  if (readText(key) === token) forgetText(key);
}

/** Whether the address has a code (`#code=…`) that the server exchanges for an access token. */
function hasCode(): boolean {
  return location.hash.startsWith('#code=');
}

/**
 * Removes the code from the address bar and the history, and exchanges the code for the token. The code works
 * only once, so a link in the browser's history is worthless.
 *
 * @throws Error with a message for the user
 */
async function exchangeCode(): Promise<string> {
  const code = location.hash.slice('#code='.length);
  history.replaceState(null, '', location.pathname + location.search);
  const response = await fetch(new URL('console/sign-in', baseUrl()), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  }).catch(() => {
    throw new Error(noResponse);
  });
  const { token, message } = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(message ?? `the server responded with ${response.status}`);
  return token;
}
