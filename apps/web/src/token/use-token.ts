import { useCallback, useEffect, useState } from 'react';
import { forgetToken, keepToken, takeToken } from './stored-token.ts';

interface TokenState {
  token: string | null;
  /** Why a new token is needed, where there was one. */
  reason?: string;
}

/** The access token of this tab, and the functions that change it. */
export function useToken() {
  const [state, setState] = useState<TokenState>(() => ({ token: takeToken() }));

  useEffect(() => {
    // Somebody opened a link with a token in a tab that already shows the console.
    const onHashChange = () => setState({ token: takeToken() });
    addEventListener('hashchange', onHashChange);
    return () => removeEventListener('hashchange', onHashChange);
  }, []);

  const enter = useCallback((token: string) => {
    keepToken(token);
    setState({ token });
  }, []);
  // A late reply to a call with an earlier token does not concern the token of now.
  const forget = useCallback((token: string, reason?: string) => {
    forgetToken(token);
    setState((latest) =>
      latest.token === token ? { token: null, ...(reason !== undefined && { reason }) } : latest,
    );
  }, []);
  return { ...state, enter, forget };
}
