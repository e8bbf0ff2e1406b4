const key = 'plant-store.token';

/**
 * The access token of this browser tab, or null. A token in the address (`#token=…`) is kept, and
 * removed from the address bar and the history at once.
 */
export function takeToken(): string | null {
  // A token may contain a plus, which URLSearchParams reads as a space.
  const fragment = location.hash.slice(1).replaceAll('+', '%2B');
  const token = new URLSearchParams(fragment).get('token');
  if (token) {
    keepToken(token);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return sessionStorage.getItem(key);
}

/** Keeps the token until the tab closes. */
export function keepToken(token: string): void {
  sessionStorage.setItem(key, token);
}

/** Forgets the token, unless another one has replaced it. */
export function forgetToken(token: string): void {
  if (sessionStorage.getItem(key) === token) sessionStorage.removeItem(key);
}
