import { type Identity, scopes } from '@plant-store/schemas';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { TextField } from '../controls/text-field.tsx';
import { Code } from '../requests/request-list.tsx';
import { ErrorAlert } from '../store/error-alert.tsx';
import { useTRPC } from '../store/trpc.ts';
import { describeScopes } from '../token/allowed-scopes.ts';

/** The key of the query for the list of tokens. */
export const tokensKey = ['listAccessTokens'];

/** By default, a token expires after this number of milliseconds. */
const usualLifetime = 90 * 86_400_000;

/** Creates an access token, and shows the token a single time. */
export function CreateToken({ identity }: { identity: Identity }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const own = scopes.filter((scope) => identity.scopes.includes(scope));
  const [name, setName] = useState('');
  const [granted, setGranted] = useState(own.filter((scope) => /create|read/.test(scope)));
  const [end, setEnd] = useState(() =>
    identity.expiresAt ? '' : new Date(Date.now() + usualLifetime).toISOString().slice(0, 10),
  );
  const create = useMutation(
    trpc.createAccessToken.mutationOptions({
      // If the response is lost, the list shows whether the store has created the token.
      onSettled: () => queryClient.invalidateQueries({ queryKey: tokensKey }),
    }),
  );
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // Without a time, JavaScript reads a date in UTC, but the list shows dates in the user's time zone.
    const expiresAt = end === '' ? identity.expiresAt : new Date(`${end}T00:00`);
    create.mutate({ name: name.trim(), scopes: granted, expiresAt: expiresAt?.toISOString() });
  };
  if (create.data) {
    return (
      <section aria-label="The new token">
        <p role="status">Copy the token now, because nobody can see it again:</p>
        <Code what="token" text={create.data.token} />
        <Button onClick={create.reset}>Create another</Button>
      </section>
    );
  }
  return (
    <form className="plant-form" onSubmit={onSubmit}>
      <TextField
        label="Name of the new token"
        description="The client that uses the token, such as “garden-centre”"
        value={name}
        onChange={setName}
      />
      <fieldset>
        <legend className="field-label">The token may</legend>
        {own.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={granted.includes(scope)}
              onChange={() =>
                setGranted(own.filter((each) => granted.includes(each) !== (each === scope)))
              }
            />{' '}
            {describeScopes([scope])}
          </label>
        ))}
      </fieldset>
      <TextField
        label="Expires"
        type="date"
        max="9999-12-31" // The store accepts years of four digits.
        description={`Without a date, ${identity.expiresAt ? 'it expires with your own token' : 'it never expires'}`}
        value={end}
        onChange={setEnd}
      />
      <ErrorAlert error={create.error} />
      <div className="sheet-actions row">
        <Button
          kind="primary"
          type="submit"
          disabled={create.isPending || name.trim() === '' || granted.length === 0}
        >
          Create token
        </Button>
      </div>
    </form>
  );
}
