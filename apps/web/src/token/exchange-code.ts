import { baseUrl } from '../store/trpc.ts';

/** Whether the address has a code (`#code=…`) that the server exchanges for an access token. */
export function hasCode(): boolean {
  return location.hash.startsWith('#code=');
}

/**
 * Removes the code from the address bar and the history, and exchanges it for the token. The code works
 * once, so nobody can use what the browser remembers of the link.
 *
 * @throws Error with a message for a person
 */
export async function exchangeCode(): Promise<string> {
  const code = location.hash.slice('#code='.length);
  history.replaceState(null, '', location.pathname + location.search);
  const reply = await fetch(new URL('console/sign-in', baseUrl()), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  const { token, message } = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(message ?? `the server answered ${reply.status}`);
  return token;
}
