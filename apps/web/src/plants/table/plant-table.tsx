import type { StoredPlant } from '@plant-store/schemas';
import {
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import {
  closeSheet,
  currentPlace,
  openPlant,
  type PlantFilter,
  replace,
  useAddress,
} from '../../address/address.ts';
import { isNew } from '../../changes/update-page.ts';
import { explainError } from '../../store/explain-error.ts';
import type { PlantCount } from '../plant-text.tsx';
import type { Selection } from '../selected-plants.ts';
import { shownFields, tableFields } from '../shown-fields.tsx';
import { PlantRow, TableHeader } from './plant-row.tsx';
import './plant-table.css';
import './plant-table-narrow.css';
import { useActiveRow, useRangeSelection } from './active-rows.ts';
import { type RowRange, useScrollWindow } from './scroll-window.ts';
import { TablePosition, useKeptPlace } from './table-position.tsx';
import { type FoundPlants, usePlantPages } from './use-plant-pages.ts';

interface PlantTableProps {
  filter: PlantFilter;
  /** The number of plants in the list, or undefined while the number is unknown. */
  total: PlantCount | undefined;
  /** The height of a row in pixels. */
  rowHeight: number;
  open: bigint | undefined;
  /** The selected plants, or undefined when rows cannot be selected. */
  selection: Selection | undefined;
  /** The content that replaces an empty table. */
  children: ReactNode;
  onOpen(plant: StoredPlant): void;
  /** Runs after the table has loaded further plants. */
  onFound(found: FoundPlants): void;
}

const columns = tableFields.map((field) => shownFields[field].width).join(' ');

/** The table renders this number of rows beyond each edge of the screen. */
const overscan = 8;

/** This number of milliseconds after the last key, the view beside the table shows the active plant. */
const pause = 100;

/** Shows the plants as a table, and loads rows while the user scrolls up or down. */
export function PlantTable(props: PlantTableProps) {
  const { filter, total, rowHeight, open, selection, children, onOpen, onFound } = props;
  const [at] = useState(currentPlace);
  const [visible, setVisible] = useState<RowRange>({ first: 0, last: 0 });
  const [hovered, setHovered] = useState<number>();
  const following = useRef<ReturnType<typeof setTimeout>>(undefined);
  const pages = usePlantPages({ filter, at, visible, hovered });
  const { known, rows, ends, isComplete, plantAt } = pages;
  const isJump = useAddress().jumps > 0;
  const { watch: watchRows, ...scroll } = useScrollWindow({ rows, rowHeight, setVisible });
  const [active, setActive] = useActiveRow(pages, open);
  const range = useRangeSelection(selection, pages, active);

  useKeptPlace(pages, visible);
  const { count, more, first } = pages.found;
  useEffect(() => onFound({ count, more, first }), [onFound, count, more, first]);

  const watch = useCallback(
    (element: HTMLDivElement) => {
      // After a jump, a new table replaces the old table, and gets the focus of the old table.
      if (isJump && document.activeElement === document.body) element.focus();
      return watchRows(element);
    },
    [isJump, watchRows],
  );

  const firstDrawn = Math.max(rows.first, visible.first - overscan);
  const lastDrawn = Math.min(rows.end - 1, visible.last + overscan);
  const drawn = Array.from(
    { length: Math.max(0, lastDrawn - firstDrawn + 1) },
    (_, i) => firstDrawn + i,
  );

  const moveTo = (row: number) => {
    const bounded = Math.min(Math.max(row, known.first), Math.max(known.first, known.end - 1));
    setActive(bounded);
    scroll.reveal(bounded);
    return bounded;
  };
  const toStart = () => {
    if (ends.start) return moveTo(known.first);
    replace({ at: undefined });
    return undefined;
  };
  const openRowAt = (row: number) => {
    setActive(row);
    const plant = plantAt(row);
    if (plant) onOpen(plant);
  };
  // If a plant is open beside the table, the plant of the new row replaces the open plant after a pause.
  const moveAndShow = (row: number) => {
    const bounded = moveTo(row);
    clearTimeout(following.current);
    const plant = plantAt(bounded);
    if (open !== undefined && plant)
      following.current = setTimeout(() => openPlant(plant.id), pause);
    return bounded;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, visible.last - visible.first - 1);
    const actions: Record<string, () => unknown> = {
      ArrowDown: () => moveAndShow(active + 1),
      ArrowUp: () => moveAndShow(active - 1),
      PageDown: () => moveAndShow(active + page),
      PageUp: () => moveAndShow(active - page),
      Home: toStart,
      End: () => moveAndShow(known.end - 1),
      Enter: () => openRowAt(active),
      ' ': () => range.toggle(active, event.shiftKey),
      Escape: open === undefined ? range.clear : closeSheet,
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    const row = action();
    if (typeof row !== 'number') return;
    if (event.shiftKey) void range.extend(row);
    else range.restart();
  };

  if (pages.error && known.first === known.end) {
    return (
      <p className="card table-message">The plants cannot be shown. {explainError(pages.error)}</p>
    );
  }
  if (isComplete && rows.first === rows.end) return children;
  const style = {
    '--all-columns': columns,
    '--row-height': `${rowHeight}px`,
  } as CSSProperties; // React's type `CSSProperties` has no CSS variables.
  return (
    <>
      <div
        ref={watch}
        className="card plant-table"
        role="grid"
        aria-label={labelOf(filter)}
        aria-rowcount={isComplete ? rows.end - rows.first + 1 : -1}
        aria-multiselectable={selection !== undefined}
        aria-activedescendant={drawn.includes(active) ? `row-${active}` : undefined}
        tabIndex={0}
        style={style}
        onScroll={scroll.onScroll}
        onKeyDown={onKeyDown}
      >
        <TableHeader hasChecks={selection !== undefined} />
        <div
          className="plant-table-rows"
          role="rowgroup"
          style={{ height: scroll.height }}
          onPointerLeave={() => setHovered(undefined)}
        >
          {drawn.map((row) => {
            const plant = plantAt(row);
            return (
              <PlantRow
                key={plant ? String(plant.id) : `row ${row}`}
                row={row}
                ariaIndex={isComplete ? row - rows.first + 2 : undefined}
                top={(row - rows.first) * rowHeight - scroll.start}
                plant={plant}
                isActive={row === active}
                isOpen={plant !== undefined && plant.id === open}
                isNew={plant !== undefined && isNew(plant.id)}
                isSelected={selection && plant && selection.plants.has(plant.id)}
                onOpen={() => openRowAt(row)}
                onHover={() => setHovered(row)}
                onSelect={(event: MouseEvent) => {
                  setActive(row);
                  range.toggle(row, event.shiftKey);
                }}
              />
            );
          })}
        </div>
      </div>
      <TablePosition
        total={total}
        pages={pages}
        visible={visible}
        moveTo={moveTo}
        onStart={toStart}
      />
    </>
  );
}

function labelOf({ tag, search }: PlantFilter): string {
  const withTag = tag === undefined ? '' : ` with the tag “${tag}”`;
  return `Plants${withTag}${search === undefined ? '' : ` with “${search}” in their names`}`;
}
