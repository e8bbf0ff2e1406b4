import type { NewPlant } from '@plant-store/schemas';
import { lazy } from 'react';
import { DeleteQuestion } from '../plants/delete-question.tsx';
import { ExportPlants } from '../plants/export-plants.tsx';
import { AddPlant } from '../plants/one/edit-plant.tsx';
import { OnePlant } from '../plants/one/one-plant.tsx';
import { useListState } from '../plants/plant-state.ts';
import { Account } from '../session/sign-in.tsx';
import { useIdentity } from '../store/store.ts';
import { Tokens } from '../tokens/tokens.tsx';
import { useAddress } from '../ui/address.ts';
import { load } from '../ui/browser.ts';

// Only an import needs this part, which checks each row with the schemas of the store.
const ImportPlants = lazy(() => load(() => import('../import/import-plants.tsx')));

interface LaterProps {
  token: string;
  onSignOut(): void;
}

/** The parts beside and over the list: the open plant and the open dialog. */
export default function Later(props: LaterProps) {
  const { may } = useIdentity();
  const { plant } = useAddress();
  return (
    <>
      {plant !== undefined && may('plants:read') && <OnePlant key={String(plant)} id={plant} />}
      <OpenDialog {...props} />
    </>
  );
}

function OpenDialog({ token, onSignOut }: LaterProps) {
  const { identity } = useIdentity();
  const { dialog, change, close } = useListState();
  const onShow = (plants: readonly NewPlant[]) => {
    const createdAt = new Date();
    change({ dialog: undefined, added: plants.map((plant) => ({ ...plant, createdAt })) });
  };
  switch (dialog?.name) {
    case 'add':
      return <AddPlant start={dialog.start ?? {}} />;
    case 'import':
      return <ImportPlants file={dialog.file} onShow={onShow} onClose={close} />;
    case 'export':
      return <ExportPlants />;
    case 'delete':
      return <DeleteQuestion plants={dialog.plants} />;
    case 'tokens':
      return identity && <Tokens identity={identity} onClose={close} />;
    case 'account':
      return <Account name={identity?.name} token={token} onSignOut={onSignOut} onClose={close} />;
    default:
      return null;
  }
}
