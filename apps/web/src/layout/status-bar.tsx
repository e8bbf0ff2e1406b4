import type { Scope } from '@plant-store/schemas';
import { useQuery } from '@tanstack/react-query';
import { serverState } from '../store/query-client.ts';

interface StatusBarProps {
  /** Undefined until the store has said what the token may do. */
  scopes: ReadonlySet<Scope> | undefined;
}

/** Says whether the server answers, and what the access token may do. */
export function StatusBar({ scopes }: StatusBarProps) {
  const isAway = useQuery(serverState).isError;
  return (
    <footer className="status-bar">
      <p role="status" className="server-state" data-away={isAway || undefined}>
        {isAway ? 'The server does not answer. Trying again …' : 'Connected'}
      </p>
      {scopes && <p>{describeScopes(scopes)}</p>}
    </footer>
  );
}

function describeScopes(scopes: ReadonlySet<Scope>): string {
  const verbs = [...scopes].map((scope) => scope.replace('plants:', ''));
  if (verbs.length === 0) return 'This token may do nothing with plants';
  return `This token may ${new Intl.ListFormat('en').format(verbs)} plants`;
}
