import type { StoredPlant } from '@plant-store/schemas';
import { int64Bounds } from '@plant-store/schemas/plain';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { filterOf, go, openSheet, useAddress } from '../address/address.ts';
import { onChanges } from '../changes/update-page.ts';
import { Button } from '../controls/button.tsx';
import { FindField } from '../plants/find/find-field.tsx';
import { usePlantCount } from '../plants/find/use-plant-count.ts';
import { listPage } from '../plants/list-page.ts';
import { countOf, number, PlantText } from '../plants/plant-text.tsx';
import { afterChanges, type SelectedPlants } from '../plants/selected-plants.ts';
import { SelectAll } from '../plants/selection/select-all.tsx';
import { SelectionBar } from '../plants/selection/selection-bar.tsx';
import { useRowHeight } from '../plants/table/plant-row.tsx';
import { PlantTable } from '../plants/table/plant-table.tsx';
import type { FoundPlants } from '../plants/table/use-plant-pages.ts';
import { refreshPlants } from '../store/query-client.ts';
import { useTRPCClient } from '../store/trpc.ts';
import type { Permissions } from '../token/allowed-scopes.ts';
import { EmptyStore } from './empty/empty-store.tsx';
import { NoMatch } from './empty/no-match.tsx';
import './plants-view.css';

interface PlantsViewProps {
  may: Permissions;
  onOpen(plant: StoredPlant): void;
  onDeleted(plants: readonly StoredPlant[]): void;
  /** Runs when the list has no plant with the id that the user looked for. */
  onIdUnknown(id: bigint): void;
  /** Runs when the table shows plants, or when the list has no plants. */
  onListed(): void;
}

/** Shows the number of plants, the actions, and the table of plants. */
export function PlantsView({ may, onOpen, onDeleted, onIdUnknown, onListed }: PlantsViewProps) {
  const { tag, search, plant, jumps } = useAddress();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const rowHeight = useRowHeight();
  const { data: all, isStale } = usePlantCount(tag);
  const [found, setFound] = useState<FoundPlants>();
  const [selected, setSelected] = useState<SelectedPlants>(new Map());
  useEffect(() => {
    if (found?.first || found?.more === 'none') onListed();
  }, [found, onListed]);
  const isFiltered = tag !== undefined || search !== undefined;
  const list = JSON.stringify([tag, search]);
  const [selectedIn, setSelectedIn] = useState(list);
  if (selectedIn !== list) {
    setSelectedIn(list);
    setSelected(new Map());
    setFound(undefined);
  }
  useEffect(
    () => onChanges((changes) => setSelected((plants) => afterChanges(plants, changes))),
    [],
  );
  // The table also requests the plant and shows any error, so `findId` shows no errors.
  const findId = async (id: bigint) => {
    go({ search: undefined, at: id });
    const after = id > int64Bounds.minimum && { after: id - 1n };
    const { plants } = await listPage(client, { ...filterOf({ tag }), ...after, limit: 1 });
    if (plants[0]?.id !== id) onIdUnknown(id);
  };
  const openFirst = async () => {
    if (!found?.count) return;
    // After the user has scrolled, the first plant may no longer be loaded.
    const load = () => listPage(client, { ...filterOf({ tag, search }), limit: 1 });
    const first = found.first ?? (await load()).plants[0];
    if (first) onOpen(first);
  };
  // After a jump, the table has no plants yet, but the selection must go on.
  const hasPlants = (found && found.count > 0) || selected.size > 0;
  return (
    <>
      <div className="title row">
        {/* A screen reader must not announce each change by another client. */}
        <h1 aria-live={isStale ? 'off' : 'polite'}>
          {search === undefined ? (all ? countOf(all.count, all) : 'Plants') : foundText(found)}
        </h1>
        <Button
          kind="quiet"
          aria-label="Refresh"
          onClick={() => refreshPlants(queryClient)}
          icon="refresh"
        />
        {tag !== undefined && <TagChip tag={tag} />}
      </div>
      <div className="tools row">
        <FindField
          onFindId={(id) => findId(id).catch(() => {})}
          onOpenFirst={() => openFirst().catch(() => {})}
        />
        <div className="tools-end row">
          {may.delete && isFiltered && hasPlants && (
            <SelectAll
              key={list}
              filter={{ tag, search }}
              plants={selected}
              onChange={setSelected}
            />
          )}
          <Button
            disabled={search === undefined ? all?.count === 0 : found?.count === 0}
            onClick={() => openSheet('export')}
            icon="download"
          >
            Export
          </Button>
          {may.create && (
            <>
              <Button onClick={() => openSheet('import')} icon="upload">
                Add files
              </Button>
              <Button kind="primary" onClick={() => openSheet('add')} icon="add">
                Add a plant
              </Button>
            </>
          )}
        </div>
      </div>
      <PlantTable
        key={`${list} ${jumps} ${rowHeight}`}
        filter={{ tag, search }}
        total={search === undefined ? all : undefined}
        rowHeight={rowHeight}
        open={plant}
        selection={may.delete ? { plants: selected, onChange: setSelected } : undefined}
        onOpen={onOpen}
        onFound={setFound}
      >
        {isFiltered ? <NoMatch tag={tag} search={search} /> : <EmptyStore mayCreate={may.create} />}
      </PlantTable>
      <SelectionBar
        plants={selected}
        canUndo={may.create}
        onChange={setSelected}
        onDeleted={onDeleted}
      />
    </>
  );
}

/** Says how many plants a search has found so far. */
function foundText(found: FoundPlants | undefined): string {
  if (!found) return 'Looking …';
  const { count, more } = found;
  if (count === 0 && more === 'unknown') return 'Plants';
  if (more === 'looking') return `${number.format(count)} found, still looking …`;
  return `${countOf(count, { isExact: more === 'none' })} found`;
}

function TagChip({ tag }: { tag: string }) {
  return (
    <span className="chip">
      <span className="one-line">
        Tag: <PlantText text={tag} />
      </span>
      <Button
        kind="quiet"
        aria-label={`Remove the filter by the tag ${tag}`}
        onClick={() => go({ tag: undefined, at: undefined })}
        icon="close"
      />
    </span>
  );
}
