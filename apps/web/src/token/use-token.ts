import { useCallback, useEffect, useState } from 'react';
import { replace } from '../address/address.ts';
import { forgetText, keepText, readText } from '../controls/tab-storage.ts';
import { explainError, noResponse } from '../store/explain-error.ts';
import { baseUrl } from '../store/trpc.ts';

const key = 'plant-store.token';

interface TokenState {
  token: string | null;
  /** Whether the console is exchanging a code for the token. */
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
    keepText(key, token);
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
    // The user may open a link with a token or a code in a tab that already shows the console.
    addEventListener('hashchange', readAddress);
    return () => removeEventListener('hashchange', readAddress);
  }, [enter]);
  const forget = useCallback((token: string, reason?: string) => {
    // A late response to a request with an earlier token must not remove the current token.
    if (readText(key) === token) forgetText(key);
    setState((latest) =>
      latest.token === token ? { token: null, ...(reason !== undefined && { reason }) } : latest,
    );
  }, []);
  return { ...state, enter, forget };
}

/**
 * Returns the access token of this browser tab, or null. If the address has a token (`#token=…`), stores the
 * token, and immediately removes the token from the address bar and the history.
 */
function takeToken(): string | null {
  // A token may contain a plus, but URLSearchParams reads a plus as a space.
  const fragment = location.hash.slice(1).replaceAll('+', '%2B');
  const token = new URLSearchParams(fragment).get('token');
  if (token) {
    keepText(key, token);
    replace({}); // The address keeps the filter and the open view.
  }
  return readText(key);
}

/** Whether the address has a code (`#code=…`) that the server exchanges for an access token. */
function hasCode(): boolean {
  return location.hash.startsWith('#code=');
}

/**
 * Removes the code from the address bar and the history, and exchanges the code for the token. The code works
 * only once, so nobody can use a link from the browser's history.
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
