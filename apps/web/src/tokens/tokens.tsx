import type { AccessToken, Identity } from '@plant-store/schemas';
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../controls/button.tsx';
import { Question } from '../controls/question.tsx';
import { locale, PlantText } from '../plants/plant-text.tsx';
import { ErrorAlert } from '../store/error-alert.tsx';
import { useTRPC, useTRPCClient } from '../store/trpc.ts';
import { describeScopes } from '../token/allowed-scopes.ts';
import { CreateToken, tokensKey } from './create-token.tsx';
import './tokens.css';

/** Creates, lists and revokes access tokens. The list begins with the newest token. */
export function Tokens({ identity }: { identity: Identity }) {
  const client = useTRPCClient();
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: tokensKey,
    queryFn: ({ pageParam, signal }) => client.listAccessTokens.query(pageParam, { signal }),
    initialPageParam: {},
    getNextPageParam: ({ next }) => next && { after: next },
    staleTime: 0,
  });
  return (
    <>
      <CreateToken identity={identity} />
      <ErrorAlert error={error} />
      <ul className="requests" aria-label="Access tokens">
        {data?.pages.flatMap(({ tokens }) =>
          tokens.map((token) => (
            <Token key={token.id} token={token} isOwn={token.id === identity.tokenId} />
          )),
        )}
      </ul>
      {hasNextPage && (
        <Button disabled={isFetching} onClick={() => fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  );
}

interface TokenProps {
  token: AccessToken;
  /** Whether the token is the token of this tab. */
  isOwn: boolean;
}

const date = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });

function Token({ token, isOwn }: TokenProps) {
  const { name, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = token;
  const [now] = useState(() => new Date());
  const isExpired = expiresAt && expiresAt <= now;
  const times = [
    `Created ${date.format(createdAt)}`,
    lastUsedAt ? `Last used ${date.format(lastUsedAt)}` : 'Never used',
    expiresAt ? `${isExpired ? 'Expired' : 'Expires'} ${date.format(expiresAt)}` : 'Never expires',
    revokedAt && `Revoked ${date.format(revokedAt)}`,
  ];
  return (
    <li className="token">
      <strong>
        <PlantText text={name} />
      </strong>
      {isOwn && ' (of this tab)'}
      <p>May {describeScopes(scopes)}</p>
      <p>{times.filter(Boolean).join(' · ')}</p>
      {!isExpired && !revokedAt && <RevokeToken token={token} isOwn={isOwn} />}
    </li>
  );
}

/** Revokes a token after the user has confirmed. For the token of this tab, the user must confirm twice. */
function RevokeToken({ token: { id, name }, isOwn }: TokenProps) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [question, setQuestion] = useState<'first' | 'second'>();
  const revoke = useMutation(
    trpc.revokeAccessToken.mutationOptions({
      onSettled: () => queryClient.invalidateQueries({ queryKey: tokensKey }),
    }),
  );
  const isSecond = question === 'second';
  const confirm = () => {
    setQuestion(isOwn && !isSecond ? 'second' : undefined);
    if (!isOwn || isSecond) revoke.mutate({ id });
  };
  return (
    <>
      <ErrorAlert start="The token may still work." error={revoke.error} />
      <Button
        aria-label={`Revoke ${name} …`}
        disabled={revoke.isPending}
        onClick={() => setQuestion('first')}
      >
        Revoke …
      </Button>
      {question && (
        <Question
          title={isSecond ? 'Revoke the token of this tab?' : `Revoke “${name}”?`}
          text={
            isSecond ? 'The console then needs another.' : 'Its clients get errors within 30 s.'
          }
          confirm={isSecond ? 'Revoke my token' : 'Revoke'}
          field={isSecond && { label: `Type “${name}”` }}
          isConfirmed={(typed) => !isSecond || typed === name}
          onConfirm={confirm}
          onCancel={() => setQuestion(undefined)}
        />
      )}
    </>
  );
}
