import { type AccessToken, type Identity, maxPageSize } from '@plant-store/schemas';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert } from '../store/errors.tsx';
import { useClient } from '../store/store.tsx';
import { Button } from '../ui/button.tsx';
import { ClientText, date } from '../ui/client-text.tsx';
import { Dialog, Question } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { notify } from '../ui/notice.tsx';
import { CreateToken, describeScope } from './create-token.tsx';
import styles from './tokens.module.css';

interface TokensProps {
  identity: Identity;
  onClose(): void;
}

/** Creates, lists and revokes access tokens. The list begins with the newest token. */
export function Tokens({ identity, onClose }: TokensProps) {
  const client = useClient();
  const [isCreating, setIsCreating] = useState(false);
  const [revoking, setRevoking] = useState<AccessToken>();
  const { data, error } = useQuery({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => client.listAccessTokens.query({ limit: maxPageSize }, { signal }),
  });
  if (isCreating) {
    const onBack = () => setIsCreating(false);
    return (
      <Dialog key="new" place="side" title="New access token" onClose={onBack}>
        <CreateToken identity={identity} onClose={onBack} />
      </Dialog>
    );
  }
  return (
    <Dialog place="side" title="Access tokens" onClose={onClose}>
      <p className="help">
        Each person and each program that uses the store has a token of its own.
      </p>
      <div className="row">
        <Button kind="primary" icon="add" data-focus onClick={() => setIsCreating(true)}>
          New token
        </Button>
      </div>
      <ErrorAlert error={error} />
      <ul className={styles.list} aria-label="Access tokens">
        {data?.tokens.map((token) => (
          <Token
            key={token.id}
            token={token}
            isOwn={token.id === identity.tokenId}
            onRevoke={() => setRevoking(token)}
          />
        ))}
      </ul>
      {data?.tokens.length === 0 && <p>No token was created yet.</p>}
      {revoking && (
        <RevokeQuestion
          token={revoking}
          isOwn={revoking.id === identity.tokenId}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </Dialog>
  );
}

interface TokenProps {
  token: AccessToken;
  /** Whether the token is the token of this tab. */
  isOwn: boolean;
  onRevoke(): void;
}

function Token({ token, isOwn, onRevoke }: TokenProps) {
  const { name, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = token;
  const [now] = useState(() => new Date());
  const isExpired = expiresAt && expiresAt <= now;
  const isOver = isExpired || revokedAt !== undefined;
  const times = [
    `Created ${date.format(createdAt)}`,
    lastUsedAt ? `last used ${date.format(lastUsedAt)}` : 'never used',
    expiresAt ? `${isExpired ? 'expired' : 'expires'} ${date.format(expiresAt)}` : 'never expires',
    revokedAt && `revoked ${date.format(revokedAt)}`,
  ];
  return (
    <li className={styles.token} data-over={isOver || undefined}>
      <div>
        <strong>
          <ClientText text={name} />
        </strong>
        {isOwn && ' (yours)'}
        <p>May {scopes.map(describeScope).join(', ')}</p>
        <p>{times.filter(Boolean).join(' · ')}</p>
      </div>
      {!isOver && (
        <Button aria-label={`Revoke ${name}`} onClick={onRevoke}>
          Revoke
        </Button>
      )}
    </li>
  );
}

interface RevokeQuestionProps extends Omit<TokenProps, 'onRevoke'> {
  onClose(): void;
}

/** Revokes a token after the user has confirmed. For the user's own token, the user also types its name. */
function RevokeQuestion({ token: { id, name }, isOwn, onClose }: RevokeQuestionProps) {
  const client = useClient();
  const [typed, setTyped] = useState('');
  const revoke = useMutation({
    mutationFn: () => client.revokeAccessToken.mutate({ id }),
    onSuccess() {
      notify(`Revoked “${name}”`);
      onClose();
    },
  });
  return (
    <Question
      title={
        <>
          Revoke “<ClientText text={name} />
          ”?
        </>
      }
      confirm={isOwn ? 'Revoke my own token' : 'Revoke'}
      isDisabled={isOwn && typed !== name}
      isBusy={revoke.isPending}
      onConfirm={() => revoke.mutate()}
      onClose={onClose}
    >
      <p>
        {isOwn
          ? 'This is your own token. You are then signed out, and need another token to come back.'
          : 'Whoever uses it gets errors within 30 seconds. This cannot be undone.'}
      </p>
      {isOwn && (
        <Field
          label={`Type “${name}” to confirm`}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
      )}
      <ErrorAlert start="The token may still work." error={revoke.error} />
    </Question>
  );
}
