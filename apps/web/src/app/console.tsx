import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { shorten } from '@plant-store/schemas/plain';
import { type DragEvent, Suspense, useCallback, useEffect, useState } from 'react';
import houseplants from '../../../../examples/houseplants.ndjson?url';
import { PlantList } from '../plants/list/plant-list.tsx';
import type { Checked } from '../plants/list/plant-table.tsx';
import type { PlantActions, SeenPlant } from '../plants/plant-queries.ts';
import { useIdentity } from '../store/store.tsx';
import { type Address, go, hrefOf, useAddress } from '../ui/address.ts';
import { Button } from '../ui/button.tsx';
import { Logo } from '../ui/icon.tsx';
import { notify } from '../ui/notice.tsx';
import styles from './console.module.css';
import {
  Account,
  AddPlant,
  DeleteQuestion,
  ExportPlants,
  ImportPlants,
  loadFiles,
  loadLater,
  OnePlant,
  Tokens,
} from './later-parts.ts';

/** The dialog over the list. */
type Open =
  | { readonly dialog: 'tokens' | 'account' | 'export' }
  | { readonly dialog: 'add'; readonly start: Partial<NewPlant> }
  | { readonly dialog: 'import'; readonly file?: File | undefined }
  | { readonly dialog: 'delete'; readonly plants: readonly SeenPlant[] };

interface ConsoleProps {
  token: string;
  onSignOut(): void;
}

/** Shows the list to somebody with a token, and what stands beside and over it. */
export function Console({ token, onSignOut }: ConsoleProps) {
  const { identity, may } = useIdentity();
  const address = useAddress();
  const { tag, search, plant } = address;
  const [open, setOpen] = useState<Open>();
  const [checked, setChecked] = useState<Checked>(new Map());
  const [added, setAdded] = useState<readonly StoredPlant[]>([]);
  const filter = JSON.stringify([tag, search]);
  const [addedIn, setAddedIn] = useState(filter);
  if (addedIn !== filter) {
    setAddedIn(filter);
    setAdded([]);
  }
  useTitle(address);
  useEffect(() => void loadLater(), []);

  const close = () => setOpen(undefined);
  const closePlant = useCallback(() => go({ plant: undefined }), []);
  const actions: PlantActions = {
    add: (start = {}) => setOpen({ dialog: 'add', start }),
    importFile: () => setOpen({ dialog: 'import' }),
    async importSample() {
      const response = await fetch(houseplants);
      setOpen({ dialog: 'import', file: new File([await response.blob()], 'houseplants.ndjson') });
    },
    exportList: () => setOpen({ dialog: 'export' }),
    save: async (plants) => (await loadFiles()).savePlants(plants),
    remove: (plants) => setOpen({ dialog: 'delete', plants }),
  };
  const onAdded = (plant: StoredPlant) => {
    close();
    setAdded((others) => [plant, ...others]);
    notify(`Added “${shorten(plant.name)}”`);
  };
  const onDeleted = (ids: readonly bigint[]) => {
    setChecked((plants) => new Map([...plants].filter(([id]) => !ids.includes(id))));
    setAdded((plants) => plants.filter(({ id }) => !ids.includes(id)));
    if (plant !== undefined && ids.includes(plant)) closePlant();
    document.getElementById('plants')?.focus();
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    const [file] = event.dataTransfer.files;
    if (file && may.create && (!open || open.dialog === 'import')) {
      setOpen({ dialog: 'import', file });
    }
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: a file can be dropped anywhere on the page.
    <div className={styles.console} onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <header className={styles.header}>
        <Logo />
        <h1>
          <a href={hrefOf({})}>Plants</a>
        </h1>
        {may.manage && (
          <Button
            kind="quiet"
            icon="tokens"
            isCompact
            onClick={() => setOpen({ dialog: 'tokens' })}
          >
            Access tokens
          </Button>
        )}
        <Button kind="quiet" icon="leave" isCompact onClick={() => setOpen({ dialog: 'account' })}>
          Sign out
        </Button>
      </header>
      <div className={styles.body}>
        <main>
          <PlantList
            may={may}
            owner={identity?.name}
            added={added}
            checked={checked}
            onCheck={setChecked}
            actions={actions}
          />
        </main>
        <Suspense>
          {plant !== undefined && may.read && (
            <OnePlant
              key={String(plant)}
              id={plant}
              may={may}
              isListChecked={checked.size > 0}
              actions={actions}
              onCorrected={(plant) =>
                setAdded((plants) => plants.map((each) => (each.id === plant.id ? plant : each)))
              }
              onClose={closePlant}
            />
          )}
        </Suspense>
      </div>
      <Suspense>
        {open?.dialog === 'add' && (
          <AddPlant mayRead={may.read} start={open.start} onAdded={onAdded} onClose={close} />
        )}
        {open?.dialog === 'import' && (
          <ImportPlants
            file={open.file}
            onShow={(plants) => {
              close();
              setAdded(plants);
            }}
            onClose={close}
          />
        )}
        {open?.dialog === 'export' && <ExportPlants filter={{ tag, search }} onClose={close} />}
        {open?.dialog === 'delete' && (
          <DeleteQuestion
            plants={open.plants}
            onSave={actions.save}
            onDeleted={onDeleted}
            onClose={close}
          />
        )}
        {open?.dialog === 'tokens' && identity && <Tokens identity={identity} onClose={close} />}
        {open?.dialog === 'account' && (
          <Account name={identity?.name} token={token} onSignOut={onSignOut} onClose={close} />
        )}
      </Suspense>
    </div>
  );
}

/** Sets the title of the browser tab to what the page shows. */
function useTitle({ tag, search, plant }: Address): void {
  const parts = [plant !== undefined && `Plant ${plant}`, search && `“${search}”`, tag];
  const title = [...parts.filter(Boolean), 'Plant Store'].join(' · ');
  useEffect(() => {
    document.title = title;
  }, [title]);
}
