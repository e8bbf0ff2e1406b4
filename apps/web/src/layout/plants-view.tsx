import type { StoredPlant } from '@plant-store/schemas';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { go, useAddress } from '../address/use-address.ts';
import { onChanges } from '../changes/update-page.ts';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import { FindField } from '../plants/find/find-field.tsx';
import { usePlantCount } from '../plants/find/use-plant-count.ts';
import { countOf, PlantText } from '../plants/plant-text.tsx';
import { SelectionBar } from '../plants/selection/selection-bar.tsx';
import { PlantTable } from '../plants/table/plant-table.tsx';
import { useRowHeight } from '../plants/table/row-size.ts';
import { refreshPlants } from '../store/query-client.ts';
import type { Permissions } from '../token/allowed-scopes.ts';
import { EmptyStore } from './empty-store.tsx';
import './plants-view.css';

interface PlantsViewProps {
  may: Permissions;
  onOpen(plant: StoredPlant): void;
  onDeleted(count: number): void;
}

/** Shows the number of plants, the actions, and the table of plants. */
export function PlantsView({ may, onOpen, onDeleted }: PlantsViewProps) {
  const { tag, plant, jumps } = useAddress();
  const queryClient = useQueryClient();
  const rowHeight = useRowHeight();
  const { data: number, isStale } = usePlantCount(tag);
  const [selected, setSelected] = useState<ReadonlySet<bigint>>(new Set());
  const list = JSON.stringify([tag]);
  const [selectedIn, setSelectedIn] = useState(list);
  if (selectedIn !== list) {
    setSelectedIn(list);
    setSelected(new Set());
  }
  useEffect(
    () =>
      onChanges((changes) => {
        const latest = new Map(changes.map(({ type, plant }) => [plant.id, type]));
        setSelected((ids) => {
          const left = [...ids].filter((id) => latest.get(id) !== 'deleted');
          return left.length === ids.size ? ids : new Set(left);
        });
      }),
    [],
  );
  return (
    <>
      <div className="title">
        {/* A screen reader must not announce each change by another client. */}
        <h1 aria-live={isStale ? 'off' : 'polite'}>
          {number ? countOf(number.count, number) : 'Plants'}
        </h1>
        <Button
          kind="quiet"
          className="icon-button"
          aria-label="Refresh"
          onClick={() => refreshPlants(queryClient)}
        >
          <Icon name="refresh" />
        </Button>
        {tag !== undefined && <TagChip tag={tag} />}
      </div>
      <div className="tools">
        <FindField />
        <div className="tools-end">
          <Button onClick={() => go({ sheet: 'export' })}>
            <Icon name="download" />
            <span>Export</span>
          </Button>
          {may.create && (
            <>
              <Button onClick={() => go({ sheet: 'import' })}>
                <Icon name="upload" />
                <span>Add files</span>
              </Button>
              <Button kind="primary" onClick={() => go({ sheet: 'add' })}>
                <Icon name="add" />
                <span>Add a plant</span>
              </Button>
            </>
          )}
        </div>
      </div>
      <PlantTable
        key={`${list} ${jumps} ${rowHeight}`}
        tag={tag}
        rowHeight={rowHeight}
        open={plant}
        selection={may.delete ? { ids: selected, onChange: setSelected } : undefined}
        onOpen={onOpen}
      >
        {tag === undefined ? (
          <EmptyStore mayCreate={may.create} />
        ) : (
          <p className="table-message">
            No plant has the tag “<PlantText text={tag} />
            ”.
          </p>
        )}
      </PlantTable>
      <SelectionBar ids={selected} onChange={setSelected} onDeleted={onDeleted} />
    </>
  );
}

function TagChip({ tag }: { tag: string }) {
  return (
    <span className="chip">
      <span className="chip-text">
        Tag: <PlantText text={tag} />
      </span>
      <Button
        kind="quiet"
        aria-label={`Remove the filter by the tag ${tag}`}
        onClick={() => go({ tag: undefined, at: undefined })}
      >
        <Icon name="close" />
      </Button>
    </span>
  );
}
