import { useCallback, useEffect, useState } from 'react';
import { explainError } from '../store/explain-error.ts';
import { exchangeCode, hasCode } from './exchange-code.ts';
import { forgetToken, keepToken, takeToken } from './stored-token.ts';

interface TokenState {
  token: string | null;
  /** Whether a code is being exchanged for the token. */
  isSigningIn?: boolean;
  /** Why a new token is needed, where there was one. */
  reason?: string;
}

/** The access token of this tab, and the functions that change it. */
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
    // Somebody opened a link with a token or a code in a tab that already shows the console.
    addEventListener('hashchange', readAddress);
    return () => removeEventListener('hashchange', readAddress);
  }, [enter]);
  // A late reply to a call with an earlier token does not concern the token of now.
  const forget = useCallback((token: string, reason?: string) => {
    forgetToken(token);
    setState((latest) =>
      latest.token === token ? { token: null, ...(reason !== undefined && { reason }) } : latest,
    );
  }, []);
  return { ...state, enter, forget };
}
