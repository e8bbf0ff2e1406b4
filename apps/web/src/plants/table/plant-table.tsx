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
import type { PlantFilter } from '../../address/address.ts';
import { currentPlace, keepPlace, replace, useAddress } from '../../address/use-address.ts';
import { isNew } from '../../changes/update-page.ts';
import { explainError } from '../../store/explain-error.ts';
import { shownFields, tableFields } from '../shown-fields.tsx';
import { PlantRow } from './plant-row.tsx';
import { pressKey } from './press-key.ts';
import './plant-table.css';
import './plant-table-narrow.css';
import { type RowRange, useScrollWindow } from './scroll-window.ts';
import { useActiveRow } from './use-active-row.ts';
import { type FoundPlants, usePlantPages } from './use-plant-pages.ts';
import { type Selection, useRangeSelection } from './use-range-selection.ts';

interface PlantTableProps {
  filter: PlantFilter;
  /** The height of a row in pixels. */
  rowHeight: number;
  /** The id of the open plant. */
  open: bigint | undefined;
  /** The selected plants, or undefined when rows cannot be selected. */
  selection: Selection | undefined;
  /** The content that replaces an empty table. */
  children: ReactNode;
  /** Runs when the user opens a plant. */
  onOpen(plant: StoredPlant): void;
  /** Runs after the table has found further plants. */
  onFound(found: FoundPlants): void;
}

const columns = tableFields.map((field) => shownFields[field].width).join(' ');

/** The table renders this number of rows beyond each edge of the screen. */
const overscan = 8;

/** The address gets the new place when the user has stopped scrolling for this number of milliseconds. */
const pause = 200;

/** Shows the plants as a table, and loads rows while the user scrolls up or down. */
export function PlantTable(props: PlantTableProps) {
  const { filter, rowHeight, open, selection, children, onOpen, onFound } = props;
  const [at] = useState(currentPlace);
  const [visible, setVisible] = useState<RowRange>({ first: 0, last: 0 });
  const show = useCallback(
    (range: RowRange) =>
      setVisible((latest) =>
        range.first === latest.first && range.last === latest.last ? latest : range,
      ),
    [],
  );
  const hovered = useRef<number>(undefined);
  const pages = usePlantPages({ filter, at, visible, hovered });
  const { known, rows, isComplete, plantAt } = pages;
  const isJump = useAddress().jumps > 0;
  const scroll = useScrollWindow({ rows, rowHeight, onVisible: show });
  const [active, setActive] = useActiveRow(pages, open);
  const range = useRangeSelection(selection, pages, active);

  const isStartKnown = rows.first === known.first;
  const isAtStart = isStartKnown && visible.first <= known.first;
  const topId = plantAt(visible.first)?.id;
  useEffect(() => {
    if (!isAtStart && topId === undefined) return;
    const timer = setTimeout(() => keepPlace(isAtStart ? undefined : topId), pause);
    return () => clearTimeout(timer);
  }, [isAtStart, topId]);

  const { count, more, first } = pages.found;
  useEffect(() => onFound({ count, more, first }), [onFound, count, more, first]);

  const watch = useCallback(
    (element: HTMLDivElement) => {
      // After a jump, a new table replaces the old table, and takes the focus that the old table had.
      if (isJump && document.activeElement === document.body) element.focus();
      return scroll.watch(element);
    },
    [isJump, scroll.watch],
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
    if (isStartKnown) return moveTo(known.first);
    replace({ at: undefined });
    return undefined;
  };
  const openRowAt = (row: number) => {
    setActive(row);
    const plant = plantAt(row);
    if (plant) onOpen(plant);
  };
  const keys = { active, visible, lastRow: known.end - 1, range, moveTo, toStart };
  const onKeyDown = (event: KeyboardEvent) =>
    pressKey(event, { ...keys, onOpen: () => openRowAt(active) });

  if (pages.error && known.first === known.end) {
    return <p className="table-message">The plants cannot be shown. {explainError(pages.error)}</p>;
  }
  if (isComplete && rows.first === rows.end) return children;
  const style = {
    '--columns': selection ? `1.125rem ${columns}` : columns,
    '--row-height': `${rowHeight}px`,
  } as CSSProperties; // React's type `CSSProperties` has no CSS variables.
  return (
    <div
      ref={watch}
      className="plant-table"
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
      <div className="plant-table-header" role="row" aria-rowindex={1}>
        {selection && (
          <span role="columnheader">
            <span className="visually-hidden">Selected</span>
          </span>
        )}
        {tableFields.map((field) => (
          <span key={field} role="columnheader" data-field={field}>
            {shownFields[field].label}
          </span>
        ))}
      </div>
      <div
        className="plant-table-rows"
        role="rowgroup"
        style={{ height: scroll.height }}
        onPointerLeave={() => {
          hovered.current = undefined;
        }}
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
              isNew={plant !== undefined && isNew(plant.id)}
              isSelected={selection && plant && selection.ids.has(plant.id)}
              onOpen={() => openRowAt(row)}
              onHover={() => {
                hovered.current = row;
              }}
              onSelect={(event: MouseEvent) => {
                setActive(row);
                range.toggle(row, event.shiftKey);
              }}
            />
          );
        })}
      </div>
    </div>
  );
}

function labelOf({ tag, search }: PlantFilter): string {
  const withTag = tag === undefined ? '' : ` with the tag “${tag}”`;
  return `Plants${withTag}${search === undefined ? '' : ` with “${search}” in their names`}`;
}
