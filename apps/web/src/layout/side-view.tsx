import type { Identity, NewPlant, StoredPlant } from '@plant-store/schemas';
import type { ReactNode } from 'react';
import { type SheetName, sheetTitles, useAddress } from '../address/address.ts';
import { Sheet } from '../controls/sheet.tsx';
import { useMedia } from '../controls/use-media.ts';
import type { Imports } from '../import/imports.ts';
import { ImportPlants } from '../import/views/import-plants.tsx';
import { AddPlant } from '../plants/add/add-plant.tsx';
import { ExportPlants } from '../plants/export/export-plants.tsx';
import type { Export } from '../plants/export/use-export.ts';
import { PlantDetails, PlantTitle } from '../plants/plant-details.tsx';
import type { RequestHistory } from '../requests/request-history.ts';
import { RequestList } from '../requests/request-list.tsx';
import type { Permissions } from '../token/allowed-scopes.ts';
import { Tokens } from '../tokens/tokens.tsx';

interface SideViewProps {
  may: Permissions;
  identity: Identity | undefined;
  history: RequestHistory;
  imports: Imports;
  currentExport: Export;
  onAdded(plant: NewPlant): void;
  onDeleted(plant: StoredPlant): void;
  onDuplicate(plant: StoredPlant): void;
  onLeave(): void;
}

/** Shows a view beside the table. The address names the view. */
export function SideView(props: SideViewProps) {
  const { may, history, imports, currentExport, onAdded, onDeleted, onDuplicate, onLeave } = props;
  const { plant, sheet, tag, search } = useAddress();
  const isWide = useMedia('(width >= 48rem) and (height >= 32rem)');
  if (plant !== undefined && may.read) {
    return (
      <Sheet key="plant" isBeside={isWide} title={<PlantTitle id={plant} />} onClose={onLeave}>
        <PlantDetails
          id={plant}
          filter={{ tag, search }}
          may={may}
          onDeleted={onDeleted}
          onDuplicate={onDuplicate}
        />
      </Sheet>
    );
  }
  const views: Record<SheetName, ReactNode> = {
    add: may.create && <AddPlant mayRead={may.read} onAdded={onAdded} />,
    import: may.create && <ImportPlants imports={imports} />,
    export: may.read && <ExportPlants current={currentExport} filter={{ tag, search }} />,
    requests: <RequestList history={history} />,
    tokens: props.identity && may.manage && <Tokens identity={props.identity} />,
  };
  const view = sheet && views[sheet];
  if (!view) return null;
  return (
    <Sheet key={sheet} title={sheetTitles[sheet]} onClose={onLeave}>
      {view}
    </Sheet>
  );
}
