import type { StoredPlant } from '@plant-store/schemas';
import { type CSSProperties, type KeyboardEvent, useCallback, useState } from 'react';
import { explainError } from '../../store/explain-error.ts';
import type { PlantFilter } from '../plant-filter.ts';
import { shownFields, tableFields } from '../shown-fields.tsx';
import { PlantRow } from './plant-row.tsx';
import './plant-table.css';
import { type RowRange, rowHeight, useScrollWindow } from './scroll-window.ts';
import { usePlantPages } from './use-plant-pages.ts';

interface PlantTableProps {
  filter: PlantFilter;
  /** Somebody chose a plant to look at. */
  onOpen(plant: StoredPlant): void;
}

/** The widths of the columns, for the style sheet. */
const columns = {
  '--columns': tableFields.map((field) => shownFields[field].width).join(' '),
} as CSSProperties; // React's type has no variables.

/** Rows that are rendered beyond each edge of the screen. */
const overscan = 8;

/** The plants as a table that loads rows while somebody scrolls. */
export function PlantTable({ filter, onOpen }: PlantTableProps) {
  const [visible, setVisible] = useState<RowRange>({ first: 0, last: 0 });
  const show = useCallback(
    (range: RowRange) =>
      setVisible((latest) =>
        range.first === latest.first && range.last === latest.last ? latest : range,
      ),
    [],
  );
  const { rowCount, knownRows, isComplete, error, plantAt } = usePlantPages(filter, visible);
  const { watch, start, height, onScroll, reveal } = useScrollWindow(rowCount, show);
  const [active, setActive] = useState(0);

  const firstDrawn = Math.max(0, visible.first - overscan);
  const lastDrawn = Math.min(rowCount - 1, visible.last + overscan);
  const rows = Array.from({ length: lastDrawn - firstDrawn + 1 }, (_, i) => firstDrawn + i);

  const lastRow = Math.max(0, knownRows - 1);
  const moveTo = (row: number) => {
    const bounded = Math.min(Math.max(row, 0), lastRow);
    setActive(bounded);
    reveal(bounded);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, visible.last - visible.first - 1);
    const plant = plantAt(active);
    const actions: Record<string, () => void> = {
      ArrowDown: () => moveTo(active + 1),
      ArrowUp: () => moveTo(active - 1),
      PageDown: () => moveTo(active + page),
      PageUp: () => moveTo(active - page),
      Home: () => moveTo(0),
      End: () => moveTo(lastRow),
      Enter: () => plant && onOpen(plant),
    };
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };

  if (error && knownRows === 0) {
    return <p className="table-message">The plants cannot be shown. {explainError(error)}</p>;
  }
  if (isComplete && rowCount === 0) return <EmptyTable filter={filter} />;
  return (
    <div
      ref={watch}
      className="plant-table"
      role="grid"
      aria-label={filter.tag === undefined ? 'Plants' : `Plants with the tag “${filter.tag}”`}
      aria-rowcount={isComplete ? rowCount + 1 : -1}
      aria-activedescendant={rows.includes(active) ? `row-${active}` : undefined}
      tabIndex={0}
      style={columns}
      onScroll={onScroll}
      onKeyDown={onKeyDown}
    >
      <div className="plant-table-header" role="row" aria-rowindex={1}>
        {tableFields.map((field) => (
          <span key={field} role="columnheader" data-field={field}>
            {shownFields[field].label}
          </span>
        ))}
      </div>
      <div className="plant-table-rows" role="rowgroup" style={{ height }}>
        {rows.map((index) => (
          <PlantRow
            key={index}
            index={index}
            top={index * rowHeight - start}
            plant={plantAt(index)}
            isActive={index === active}
            onOpen={(plant) => {
              setActive(index);
              onOpen(plant);
            }}
          />
        ))}
      </div>
    </div>
  );
}

function EmptyTable({ filter: { tag, from } }: { filter: PlantFilter }) {
  if (tag !== undefined) return <p className="table-message">No plant has the tag “{tag}”.</p>;
  if (from !== undefined) {
    return <p className="table-message">No plant has the id {String(from)} or a greater one.</p>;
  }
  return <p className="table-message">The store has no plants yet.</p>;
}
