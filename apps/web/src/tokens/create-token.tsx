import { type Identity, scopes } from '@plant-store/schemas';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { ErrorAlert } from '../store/errors.tsx';
import { baseUrl, curlOf, useClient } from '../store/store.tsx';
import { Button, CopyButton, LinkButton } from '../ui/button.tsx';
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

/** Describes a scope for a person, such as "add plants". */
export function describeScope(scope: string): string {
  return scopeTexts[scope] ?? scope;
}

interface CreateTokenProps {
  identity: Identity;
  onClose(): void;
}

/** Creates an access token, and shows the token a single time. */
export function CreateToken({ identity, onClose }: CreateTokenProps) {
  const client = useClient();
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
  if (create.data) {
    const name = String(create.variables.get('name'));
    return <NewToken name={name} token={create.data.token} onClose={onClose} />;
  }
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
        max="9999-12-31" // The store accepts years of four digits.
        hint={`Without a date, it ${identity.expiresAt ? 'expires with your own token' : 'never expires'}`}
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
      <h3>For a person</h3>
      <p className="help">The link opens this page, signed in. Send it to this person only.</p>
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
