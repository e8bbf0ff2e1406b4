import type { Scope } from '@plant-store/schemas';
import { useQuery } from '@tanstack/react-query';
import { useFeedState } from '../changes/feed-state.ts';
import { serverState } from '../store/query-client.ts';
import { describeScopes } from '../token/allowed-scopes.ts';

interface StatusBarProps {
  /** The scopes of the token, or undefined until the store has responded. */
  scopes: ReadonlySet<Scope> | undefined;
}

/** Says whether the server responds, and which scopes the access token has. */
export function StatusBar({ scopes }: StatusBarProps) {
  const isDown = useQuery(serverState).isError;
  const feed = useFeedState();
  const isLive = feed === undefined || feed === 'live';
  return (
    <footer className="status-bar help row">
      <p role="status" className="server-state" data-down={isDown || undefined} data-feed={feed}>
        {isDown ? 'The server does not respond. Trying again …' : 'Connected'}
      </p>
      {!isDown && !isLive && <p>Refresh the list to see the changes of other clients</p>}
      {scopes && <p>This token may {describeScopes(scopes)}</p>}
    </footer>
  );
}
