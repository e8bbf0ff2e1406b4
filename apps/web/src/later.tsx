import type { NewPlant } from '@plant-store/schemas';
import { lazy } from 'react';
import { DeleteQuestion } from './plants/delete-question.tsx';
import { ExportPlants } from './plants/export-plants.tsx';
import { AddPlant } from './plants/one/edit-plant.tsx';
import { OnePlant } from './plants/one/one-plant.tsx';
import { useListState } from './plants/plant-state.ts';
import { Account } from './session/sign-in.tsx';
import { Tokens } from './session/tokens.tsx';
import { useIdentity } from './store.tsx';
import { useAddress } from './ui/address.ts';
import { load } from './ui/browser.ts';

// Only an import needs this part, which checks each row with the schemas of the store.
const ImportPlants = lazy(() => load(() => import('./import/import-plants.tsx')));

interface LaterProps {
  token: string;
  onSignOut(): void;
}

/** Shows the open plant and the open dialog, beside or over the list. */
export default function Later({ token, onSignOut }: LaterProps) {
  const { may, identity } = useIdentity();
  const { plant } = useAddress();
  const { dialog, change, close } = useListState();
  const onShow = (plants: readonly NewPlant[]) => {
    const createdAt = new Date();
    change({ dialog: undefined, added: plants.map((each) => ({ ...each, createdAt })) });
  };
  return (
    <>
      {plant !== undefined && may('plants:read') && <OnePlant key={String(plant)} id={plant} />}
      {dialog?.name === 'add' && <AddPlant start={dialog.start ?? {}} />}
      {dialog?.name === 'import' && (
        <ImportPlants file={dialog.file} onShow={onShow} onClose={close} />
      )}
      {dialog?.name === 'export' && <ExportPlants />}
      {dialog?.name === 'delete' && <DeleteQuestion plants={dialog.plants} />}
      {dialog?.name === 'tokens' && identity && <Tokens identity={identity} onClose={close} />}
      {dialog?.name === 'account' && (
        <Account name={identity?.name} token={token} onSignOut={onSignOut} onClose={close} />
      )}
    </>
  );
}
