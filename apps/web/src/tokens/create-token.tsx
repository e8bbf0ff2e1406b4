import type { Identity } from '@plant-store/schemas';
import { type Scope, scopes } from '@plant-store/schemas/plain';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ErrorAlert } from '../store/errors.tsx';
import { baseUrl, curlOf, describeScope, useClient } from '../store/store.tsx';
import { Button, CopyButton, LinkButton } from '../ui/button.tsx';
import { Check, Field } from '../ui/field.tsx';

/** The key of the query for the list of tokens. */
export const tokensKey = ['tokens'];

/** By default, a token expires after this number of milliseconds. */
const usualLifetime = 90 * 86_400_000;

interface CreateTokenProps {
  identity: Identity;
  onClose(): void;
}

/** Creates an access token, and shows the token a single time. */
export function CreateToken({ identity, onClose }: CreateTokenProps) {
  const client = useClient();
  const queryClient = useQueryClient();
  const own = scopes.filter((scope) => identity.scopes.includes(scope));
  const [name, setName] = useState('');
  const [granted, setGranted] = useState<readonly Scope[]>(
    own.filter((scope) => /create|read/.test(scope)),
  );
  const [end, setEnd] = useState(() =>
    identity.expiresAt ? '' : new Date(Date.now() + usualLifetime).toISOString().slice(0, 10),
  );
  const create = useMutation({
    mutationFn: () =>
      client.createAccessToken.mutate({
        name: name.trim(),
        scopes: [...granted],
        // Without a time, JavaScript reads a date in UTC, but the list shows dates in the user's time zone.
        expiresAt: (end === '' ? identity.expiresAt : new Date(`${end}T00:00`))?.toISOString(),
      }),
    // If the response is lost, the list shows whether the store has created the token.
    onSettled: () => queryClient.invalidateQueries({ queryKey: tokensKey }),
  });
  if (create.data) {
    return <NewToken name={name} token={create.data.token} onClose={onClose} />;
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <form className="stack" aria-label="New access token" onSubmit={onSubmit}>
      <Field
        label="1. Who or what is it for?"
        hint="A person or a program, such as “garden-centre”"
        value={name}
        onChange={setName}
        required
      />
      <fieldset>
        <legend>2. What may it do?</legend>
        {own.map((scope) => (
          <Check
            key={scope}
            label={describeScope(scope)}
            isChecked={granted.includes(scope)}
            onChange={(isChecked) =>
              setGranted(
                own.filter((each) => (each === scope ? isChecked : granted.includes(each))),
              )
            }
          />
        ))}
      </fieldset>
      <Field
        label="3. Until when?"
        type="date"
        max="9999-12-31" // The store accepts years of four digits.
        hint={`Without a date, it ${identity.expiresAt ? 'expires with your own token' : 'never expires'}`}
        value={end}
        onChange={setEnd}
      />
      <ErrorAlert error={create.error} />
      <div className="row">
        <Button
          kind="primary"
          type="submit"
          disabled={create.isPending || name.trim() === '' || granted.length === 0}
        >
          Create token
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </div>
    </form>
  );
}

interface NewTokenProps {
  name: string;
  token: string;
  onClose(): void;
}

/** Hands over a new token: as a link for a person, and as a command for a program. */
function NewToken({ name, token, onClose }: NewTokenProps) {
  const link = `${baseUrl()}#token=${encodeURIComponent(token)}`;
  const command = curlOf('plants', token);
  return (
    <section className="stack" aria-label="The new token">
      <p role="status">
        4. Hand it over now: nobody can see the token of <strong>{name}</strong> again.
      </p>
      <div className="stack">
        <h3>For a person</h3>
        <p className="help">The link opens this page, signed in. Send it to this person only.</p>
        <CopyButton icon="link" label="Copy the link" text={link} />
      </div>
      <div className="stack">
        <h3>For a program</h3>
        <pre>{command}</pre>
        <div className="row">
          <CopyButton label="Copy the command" text={command} />
          <CopyButton label="Copy the token" text={token} />
          <LinkButton href="docs">API reference</LinkButton>
        </div>
      </div>
      <div className="row">
        <Button onClick={onClose}>Done</Button>
      </div>
    </section>
  );
}
