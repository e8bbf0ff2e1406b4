import { type AccessToken, type Identity, maxPageSize, scopes } from '@plant-store/schemas';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { baseUrl, client, curlOf, ErrorAlert } from '../store.tsx';
import { Button, CopyButton, LinkButton } from '../ui/button.tsx';
import { ClientText, date } from '../ui/client-text.tsx';
import { Dialog, notify } from '../ui/dialog.tsx';
import { Check, Field } from '../ui/field.tsx';

/** By default, a token expires after this number of milliseconds. */
const usualLifetime = 90 * 86_400_000;

const scopeTexts: Readonly<Record<string, string>> = {
  'plants:read': 'see plants',
  'plants:create': 'add plants',
  'plants:update': 'correct plants',
  'plants:delete': 'delete plants',
  'tokens:manage': 'manage access tokens',
  'webhooks:manage': 'manage webhooks',
};

function describeScope(scope: string): string {
  return scopeTexts[scope] ?? scope;
}

interface TokensProps {
  identity: Identity;
  onClose(): void;
}

/** Creates, lists and revokes access tokens. The list begins with the newest token. */
export function Tokens({ identity, onClose }: TokensProps) {
  const [isCreating, setIsCreating] = useState(false);
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
        Each person and each program that uses the store needs a separate token.
      </p>
      <div className="row">
        <Button kind="primary" icon="add" data-focus onClick={() => setIsCreating(true)}>
          New token
        </Button>
      </div>
      <ErrorAlert error={error} />
      <table aria-label="Access tokens">
        <tbody>
          {data?.tokens.map((token) => (
            <Token key={token.id} token={token} isOwn={token.id === identity.tokenId} />
          ))}
        </tbody>
      </table>
      {data?.tokens.length === 0 && <p>No token has been created yet.</p>}
    </Dialog>
  );
}

interface TokenProps {
  token: AccessToken;
  /** Whether this tab uses the token. */
  isOwn: boolean;
}

function Token({ token, isOwn }: TokenProps) {
  const { id, name, scopes, createdAt, lastUsedAt, expiresAt, revokedAt } = token;
  const [now] = useState(() => new Date());
  const isExpired = expiresAt && expiresAt <= now;
  const isOver = isExpired || revokedAt !== undefined;
  const times = [
    `Created ${date.format(createdAt)}`,
    lastUsedAt ? `last used ${date.format(lastUsedAt)}` : 'never used',
    expiresAt ? `${isExpired ? 'expired' : 'expires'} ${date.format(expiresAt)}` : 'never expires',
    revokedAt && `revoked ${date.format(revokedAt)}`,
  ];
  const revoke = useMutation({
    mutationFn: () => client.revokeAccessToken.mutate({ id }),
    onSuccess: () => notify(`Revoked “${name}”`),
  });
  const shownName = <ClientText text={name} />;
  return (
    <tr>
      <td>
        <strong>{isOver ? <s>{shownName}</s> : shownName}</strong>
        {isOwn && ' (yours)'}
        <p className="help">May {scopes.map(describeScope).join(', ')}</p>
        <p className="help">{times.filter(Boolean).join(' · ')}</p>
        <ErrorAlert start="The token may still work." error={revoke.error} />
      </td>
      <td>
        {!isOver && (
          <Button
            aria-label={`Revoke ${name}`}
            disabled={revoke.isPending}
            onClick={() => askToRevoke(name, isOwn) && revoke.mutate()}
          >
            Revoke
          </Button>
        )}
      </td>
    </tr>
  );
}

/** Asks whether to revoke a token. For the token of this tab, the user must type the name of the token. */
function askToRevoke(name: string, isOwn: boolean): boolean {
  if (!isOwn) {
    const effect = 'Within 30 seconds, the store rejects the token. This cannot be undone.';
    return confirm(`Revoke “${name}”? ${effect}`);
  }
  const effect = 'You are then signed out, and need another token to sign in again.';
  return prompt(`“${name}” is your own token. ${effect} Type its name to revoke it:`) === name;
}

/** Creates an access token, and shows the token once. */
function CreateToken({ identity, onClose }: TokensProps) {
  const [usualEnd] = useState(() =>
    new Date(Date.now() + usualLifetime).toISOString().slice(0, 10),
  );
  const own = scopes.filter((scope) => identity.scopes.includes(scope));
  const create = useMutation({
    mutationFn(form: FormData) {
      const granted = form.getAll('scope');
      const end = form.get('end');
      return client.createAccessToken.mutate({
        name: String(form.get('name')).trim(),
        scopes: own.filter((scope) => granted.includes(scope)),
        // Without a time, JavaScript reads a date in UTC, but the list shows dates in the user's time zone.
        expiresAt: (end ? new Date(`${end}T00:00`) : identity.expiresAt)?.toISOString(),
      });
    },
  });
  if (create.data) return <NewToken token={create.data.token} onClose={onClose} />;
  const onSubmit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    create.mutate(new FormData(event.currentTarget));
  };
  return (
    <form className="stack" aria-label="New access token" onSubmit={onSubmit}>
      <Field
        label="1. Who or what is it for?"
        hint="A person or a program, such as “garden-centre”"
        name="name"
        pattern=".*\S.*"
        required
      />
      <fieldset>
        <legend>2. What may it do?</legend>
        {own.map((scope) => (
          <Check
            key={scope}
            label={describeScope(scope)}
            name="scope"
            value={scope}
            defaultChecked={/create|read/.test(scope)}
          />
        ))}
      </fieldset>
      <Field
        label="3. Until when?"
        type="date"
        max="9999-12-31" // The store accepts only years of four digits.
        hint={`Without a date, the token ${identity.expiresAt ? 'expires with your own token' : 'never expires'}`}
        name="end"
        defaultValue={identity.expiresAt ? '' : usualEnd}
      />
      <ErrorAlert error={create.error} />
      <div className="row">
        <Button kind="primary" type="submit" disabled={create.isPending}>
          Create token
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}

/** Shows a new token, as a link for a person and as a command for a program. */
function NewToken({ token, onClose }: { token: string; onClose(): void }) {
  const link = `${baseUrl()}#token=${encodeURIComponent(token)}`;
  const command = curlOf('plants', token);
  return (
    <section className="stack" aria-label="The new token">
      <p role="status">4. Hand the token over now. Later, nobody can see the token.</p>
      <h3>For a person</h3>
      <p className="help">The link signs the person in. Send the link only to this person.</p>
      <div className="row">
        <CopyButton icon="link" label="Copy the link" text={link} />
      </div>
      <h3>For a program</h3>
      <pre>{command}</pre>
      <div className="row">
        <CopyButton label="Copy the command" text={command} />
        <CopyButton label="Copy the token" text={token} />
        <LinkButton href="docs">API reference</LinkButton>
      </div>
      <div className="row">
        <Button onClick={onClose}>Done</Button>
      </div>
    </section>
  );
}
