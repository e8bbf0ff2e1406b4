import type { StoredPlant } from '@plant-store/schemas';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { go, useAddress } from '../address/use-address.ts';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import { countOf } from '../plants/count-of.ts';
import { FindField } from '../plants/find/find-field.tsx';
import { usePlantCount } from '../plants/find/use-plant-count.ts';
import { SelectionBar } from '../plants/selection/selection-bar.tsx';
import { PlantTable } from '../plants/table/plant-table.tsx';
import { useRowHeight } from '../plants/table/row-height.ts';
import { TagText } from '../plants/tag-link.tsx';
import { refreshPlants } from '../store/query-client.ts';
import { EmptyStore } from './empty-store.tsx';
import './plants-view.css';

interface PlantsViewProps {
  mayCreate: boolean;
  mayDelete: boolean;
  onOpen(plant: StoredPlant): void;
  onDeleted(count: number): void;
}

/** The plants with their number, and what can be done with them. */
export function PlantsView({ mayCreate, mayDelete, onOpen, onDeleted }: PlantsViewProps) {
  const { tag, plant, jumps } = useAddress();
  const queryClient = useQueryClient();
  const rowHeight = useRowHeight();
  const { shown, added } = usePlantCount(tag);
  const [selected, setSelected] = useState<ReadonlySet<bigint>>(new Set());
  const list = JSON.stringify([tag]);
  const [selectedIn, setSelectedIn] = useState(list);
  if (selectedIn !== list) {
    setSelectedIn(list);
    setSelected(new Set());
  }
  return (
    <>
      <div className="title">
        <h1>Plants</h1>
        <p role="status">{shown && countOf(shown.count, shown.isExact)}</p>
        {added !== 0 && (
          <Button className="news" onClick={() => refreshPlants(queryClient)}>
            {describeNews(added)}
          </Button>
        )}
      </div>
      <div className="tools">
        <FindField />
        {tag !== undefined && <TagChip tag={tag} />}
        <Button
          className="icon-button"
          aria-label="Refresh"
          onClick={() => refreshPlants(queryClient)}
        >
          <Icon name="refresh" />
        </Button>
        <div className="tools-end">
          <Button onClick={() => go({ sheet: 'export' })}>
            <Icon name="download" />
            Export
          </Button>
          {mayCreate && (
            <>
              <Button onClick={() => go({ sheet: 'import' })}>
                <Icon name="upload" />
                Add files
              </Button>
              <Button kind="primary" onClick={() => go({ sheet: 'add' })}>
                <Icon name="add" />
                Add a plant
              </Button>
            </>
          )}
        </div>
      </div>
      <SelectionBar ids={selected} onChange={setSelected} onDeleted={onDeleted} />
      <PlantTable
        key={`${list} ${jumps} ${rowHeight}`}
        tag={tag}
        rowHeight={rowHeight}
        open={plant}
        selection={mayDelete ? { ids: selected, onChange: setSelected } : undefined}
        onOpen={onOpen}
      >
        {tag === undefined ? (
          <EmptyStore mayCreate={mayCreate} />
        ) : (
          <NoPlants>
            No plant has the tag “<TagText tag={tag} />
            ”.
          </NoPlants>
        )}
      </PlantTable>
    </>
  );
}

function TagChip({ tag }: { tag: string }) {
  return (
    <span className="chip">
      <span className="chip-text">
        Tag: <TagText tag={tag} />
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

function NoPlants({ children }: { children: ReactNode }) {
  return <p className="table-message">{children}</p>;
}

function describeNews(added: number): string {
  const count = Math.abs(added);
  const plants = count === 1 ? 'plant' : 'plants';
  return added > 0 ? `${count} new ${plants}: show` : `${count} ${plants} fewer: show`;
}
