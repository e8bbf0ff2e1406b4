import type { NewPlant } from '@plant-store/schemas';
import { lazy } from 'react';
import { DeleteQuestion } from '../plants/delete-question.tsx';
import { ExportPlants } from '../plants/export-plants.tsx';
import { AddPlant } from '../plants/one/add-plant.tsx';
import { OnePlant } from '../plants/one/one-plant.tsx';
import { useListState } from '../plants/plant-state.ts';
import { Account } from '../session/sign-in.tsx';
import { useIdentity } from '../store/store.tsx';
import { Tokens } from '../tokens/tokens.tsx';
import { go, useAddress } from '../ui/address.ts';
import { load } from '../ui/load.ts';

// Only an import needs this part, which checks each row with the schemas of the store.
const ImportPlants = lazy(() => load(() => import('../import/import-plants.tsx')));

interface LaterProps {
  token: string;
  onSignOut(): void;
}

/** What stands beside and over the list: the open plant and the open dialog. */
export default function Later(props: LaterProps) {
  const { may } = useIdentity();
  const { plant } = useAddress();
  return (
    <>
      {plant !== undefined && may('plants:read') && (
        <OnePlant key={String(plant)} id={plant} onClose={closePlant} />
      )}
      <OpenDialog {...props} />
    </>
  );
}

function closePlant(): void {
  go({ plant: undefined });
}

function OpenDialog({ token, onSignOut }: LaterProps) {
  const { identity } = useIdentity();
  const { tag, search, plant } = useAddress();
  const { dialog, checked, added, change } = useListState();
  const onClose = () => change({ dialog: undefined });
  const onShow = (plants: readonly NewPlant[]) => {
    const createdAt = new Date();
    change({ dialog: undefined, added: plants.map((plant) => ({ ...plant, createdAt })) });
  };
  const onDeleted = (ids: readonly bigint[]) => {
    change({
      checked: new Map([...checked].filter(([id]) => !ids.includes(id))),
      added: added.filter(({ id }) => !ids.includes(id)),
    });
    if (plant !== undefined && ids.includes(plant)) closePlant();
  };
  switch (dialog?.name) {
    case 'add':
      return (
        <AddPlant
          start={dialog.start ?? {}}
          onAdded={(plant) => change({ dialog: undefined, added: [plant, ...added] })}
          onClose={onClose}
        />
      );
    case 'import':
      return <ImportPlants file={dialog.file} onShow={onShow} onClose={onClose} />;
    case 'export':
      return <ExportPlants filter={{ tag, search }} onClose={onClose} />;
    case 'delete':
      return <DeleteQuestion plants={dialog.plants} onDeleted={onDeleted} onClose={onClose} />;
    case 'tokens':
      return identity && <Tokens identity={identity} onClose={onClose} />;
    case 'account':
      return (
        <Account name={identity?.name} token={token} onSignOut={onSignOut} onClose={onClose} />
      );
    default:
      return null;
  }
}
