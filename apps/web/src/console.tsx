import { type ComponentProps, type DragEvent, lazy, Suspense, useEffect, useState } from 'react';
import { PlantList } from './plants/list/plant-list.tsx';
import { emptyState, ListContext } from './plants/plant-state.ts';
import { useIdentity } from './store.tsx';
import { type Address, hrefOf, useAddress } from './ui/address.ts';
import { load } from './ui/browser.ts';
import { Button } from './ui/button.tsx';
import { Logo } from './ui/icon.tsx';

/** The list does not need the second script, so the browser loads it after the list. */
const loadLater = () => load(() => import('./later.tsx'));
const Later = lazy(loadLater);

/** Shows the list, and the open plant or dialog beside or over the list. */
export function Console(props: ComponentProps<typeof Later>) {
  const { may, identity } = useIdentity();
  const address = useAddress();
  const { tag, search, after, plant } = address;
  const [state, setState] = useState(emptyState);
  const { dialog } = state;
  const change = (next: Partial<typeof state>) => setState((last) => ({ ...last, ...next }));

  const filter = hrefOf({ tag, search });
  const list = hrefOf({ tag, search, after });
  const [shown, setShown] = useState({ filter, list });
  if (shown.list !== list) {
    setShown({ filter, list });
    change({ checked: emptyState.checked, ...(shown.filter !== filter && { added: [] }) });
  }
  // The identity arrives with the first rows. On a slow network, other code must not delay these rows.
  useEffect(() => {
    if (identity) void loadLater();
  }, [identity]);

  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file && may('plants:create') && (!dialog || dialog.name === 'import')) {
      change({ dialog: { name: 'import', file } });
    }
  };
  const openTokens = () => change({ dialog: { name: 'tokens' } });
  const openAccount = () => change({ dialog: { name: 'account' } });
  return (
    <ListContext value={{ ...state, change }}>
      <title>{titleOf(address)}</title>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a file can be dropped anywhere on the page. */}
      <div className="console" onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
        <header>
          <Logo />
          <h1>
            <a href={hrefOf({})}>Plants</a>
          </h1>
          {may('tokens:manage') && (
            <Button kind="quiet" icon="tokens" data-compact onClick={openTokens}>
              Access tokens
            </Button>
          )}
          <Button kind="quiet" icon="leave" data-compact onClick={openAccount}>
            Sign out
          </Button>
        </header>
        <div>
          <main>
            <PlantList />
          </main>
          <Suspense>{(dialog || plant !== undefined) && <Later {...props} />}</Suspense>
        </div>
      </div>
    </ListContext>
  );
}

function titleOf({ tag, search, plant }: Address): string {
  const parts = [plant !== undefined && `Plant ${plant}`, search && `“${search}”`, tag];
  return [...parts.filter(Boolean), 'Plant Store'].join(' · ');
}
