import type { NewPlant } from '@plant-store/schemas';
import { useCallback, useState } from 'react';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import { Question } from '../controls/question.tsx';
import { Sheet } from '../controls/sheet.tsx';
import type { Imports } from '../import/imports.ts';
import { FileDrop } from '../import/views/file-drop.tsx';
import { ImportChip } from '../import/views/import-chip.tsx';
import { ImportPlants } from '../import/views/import-plants.tsx';
import { useRefreshAfterImports } from '../import/views/use-refresh-after-imports.ts';
import { AddPlant } from '../plants/add-plant.tsx';
import { forgetDraft, hasDraft } from '../plants/draft.ts';
import { FilterBar } from '../plants/filter-bar.tsx';
import { PlantDetails } from '../plants/plant-details.tsx';
import type { PlantFilter } from '../plants/plant-filter.ts';
import { PlantTable } from '../plants/table/plant-table.tsx';
import type { RequestHistory } from '../requests/request-history.ts';
import { RequestList } from '../requests/request-list.tsx';
import { useScopes } from '../token/allowed-scopes.ts';
import './console.css';
import { Header } from './header.tsx';
import { Notice, type NoticeText } from './notice.tsx';
import { StatusBar } from './status-bar.tsx';
import { WithoutReading } from './without-reading.tsx';

interface ConsoleProps {
  history: RequestHistory;
  imports: Imports;
  onForgetToken(): void;
}

/** The view beside the table. */
type SideView = 'add' | 'import' | 'requests' | { plant: bigint };

/** Everything that somebody with a token sees. */
export function Console({ history, imports, onForgetToken }: ConsoleProps) {
  const scopes = useScopes();
  const [filter, setFilter] = useState<PlantFilter>({});
  const [side, setSide] = useState<SideView>();
  const [notice, setNotice] = useState<NoticeText>();
  useRefreshAfterImports(imports);
  const [isLeaving, setIsLeaving] = useState(false);

  const mayRead = scopes?.has('plants:read') ?? true;
  const mayCreate = scopes?.has('plants:create') ?? false;
  const mayDelete = scopes?.has('plants:delete') ?? false;

  const close = () => setSide(undefined);
  const leave = () => (side === 'add' && hasDraft() ? setIsLeaving(true) : close());
  const discard = () => {
    forgetDraft();
    setIsLeaving(false);
    close();
  };
  const showPlant = (plant: bigint) => {
    setNotice(undefined);
    setSide({ plant });
  };
  const onAdded = ({ id, name }: NewPlant) => {
    close();
    const action = { label: 'Show', run: () => showPlant(id) };
    setNotice({ text: `Added “${name}”`, ...(mayRead && { action }) });
  };
  const onDeleted = (id: bigint) => {
    close();
    setNotice({ text: `Deleted the plant ${id}` });
  };
  const onFiles = useCallback(
    (files: readonly File[]) => {
      setSide('import');
      imports.choose(files);
    },
    [imports],
  );
  const views = {
    add: <AddPlant mayRead={mayRead} onAdded={onAdded} />,
    import: <ImportPlants imports={imports} />,
    requests: <RequestList history={history} />,
  };
  return (
    <div className="console">
      <Header onShowRequests={() => setSide('requests')} onForgetToken={onForgetToken}>
        <ImportChip imports={imports} onOpen={() => setSide('import')} />
      </Header>
      <main className="console-main">
        {mayRead ? (
          <>
            <FilterBar filter={filter} onChange={setFilter}>
              {mayCreate && (
                <div className="actions">
                  <Button onClick={() => setSide('import')}>
                    <Icon name="upload" />
                    Add files
                  </Button>
                  <Button kind="primary" onClick={() => setSide('add')}>
                    <Icon name="add" />
                    Add a plant
                  </Button>
                </div>
              )}
            </FilterBar>
            <PlantTable key={keyOf(filter)} filter={filter} onOpen={({ id }) => showPlant(id)} />
          </>
        ) : (
          <WithoutReading
            mayCreate={mayCreate}
            mayDelete={mayDelete}
            onAdded={onAdded}
            onAddFile={() => setSide('import')}
          />
        )}
      </main>
      <StatusBar scopes={scopes} />
      <Notice notice={notice} onClose={() => setNotice(undefined)} />
      {mayCreate && <FileDrop onFiles={onFiles} />}
      <Sheet title={titleOf(side)} onClose={leave}>
        {typeof side === 'object' ? (
          <PlantDetails
            id={side.plant}
            mayDelete={mayDelete}
            onDeleted={() => onDeleted(side.plant)}
          />
        ) : (
          side && views[side]
        )}
      </Sheet>
      <Question
        title="Discard what you typed?"
        text="The plant is not added yet."
        confirm="Discard"
        isOpen={isLeaving}
        onConfirm={discard}
        onCancel={() => setIsLeaving(false)}
      />
    </div>
  );
}

const titles = { add: 'Add a plant', import: 'Add files of plants', requests: 'Requests' };

function titleOf(side: SideView | undefined): string {
  if (side === undefined) return '';
  return typeof side === 'object' ? 'Plant' : titles[side];
}

/** Another list is another table: it starts at its first row. */
function keyOf({ tag, from }: PlantFilter): string {
  return `${from ?? ''} ${tag === undefined ? '' : JSON.stringify(tag)}`;
}
