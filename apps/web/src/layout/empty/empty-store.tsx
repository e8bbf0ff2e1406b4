import { openSheet } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { asCurl } from '../../requests/as-curl.ts';
import { Code } from '../../requests/request-list.tsx';
import { baseUrl } from '../../store/trpc.ts';
import './empty-store.css';

const example = { id: 1n, name: 'Monstera deliciosa', tag: 'Araceae' };

/** Says how to add the first plants to an empty store. */
export function EmptyStore({ mayCreate }: { mayCreate: boolean }) {
  const request = { number: 0, procedure: 'createPlant' as const, input: example, at: new Date(0) };
  const command = asCurl(request, baseUrl());
  return (
    <section className="card empty-store" aria-labelledby="empty-store">
      <Seedling />
      <h2 id="empty-store">The store has no plants yet</h2>
      {mayCreate && (
        <>
          <p>
            Add the first plant<span className="file-hint">, drop files anywhere on this page</span>
            , or send a request:
          </p>
          <div className="sheet-actions row">
            <Button kind="primary" onClick={() => openSheet('add')}>
              Add the first plant
            </Button>
            <Button onClick={() => openSheet('import')}>Choose files</Button>
          </div>
          <Code what="the command" text={command} />
        </>
      )}
    </section>
  );
}

function Seedling() {
  return (
    <svg aria-hidden="true" viewBox="0 0 120 120" width="120" height="120">
      <ellipse cx="60" cy="110" rx="34" ry="5" fill="var(--faint-line)" />
      <path d="M58 76V44h4v32z" fill="var(--accent)" />
      <path d="M60 52C58 30 42 22 24 22c0 20 12 32 36 30z" fill="var(--accent)" />
      <path d="M60 44c0-18 12-28 32-30 2 20-10 32-32 30z" fill="var(--accent)" />
      <path d="M34 76h52l-6 32a4 4 0 0 1-4 3H44a4 4 0 0 1-4-3z" fill="var(--pot)" />
      <path d="M30 70h60v10H30z" fill="var(--pot-rim)" />
    </svg>
  );
}
