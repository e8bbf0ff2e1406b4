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
import { currentPlace, keepPlace, replace, useAddress } from '../../address/use-address.ts';
import { isNew } from '../../changes/update-page.ts';
import { explainError } from '../../store/explain-error.ts';
import { shownFields, tableFields } from '../shown-fields.tsx';
import { PlantRow } from './plant-row.tsx';
import './plant-table.css';
import { useTextWidth } from './row-size.ts';
import { type RowRange, useScrollWindow } from './scroll-window.ts';
import { useActiveRow } from './use-active-row.ts';
import { usePlantPages } from './use-plant-pages.ts';
import { type Selection, useRangeSelection } from './use-range-selection.ts';

interface PlantTableProps {
  tag: string | undefined;
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
}

const columns = tableFields.map((field) => shownFields[field].width).join(' ');

/** The table renders this number of rows beyond each edge of the screen. */
const overscan = 8;

/** The address gets the new place when the user has stopped scrolling for this number of milliseconds. */
const pause = 200;

/** Shows the plants as a table, and loads rows while the user scrolls up or down. */
export function PlantTable(props: PlantTableProps) {
  const { tag, rowHeight, open, selection, children, onOpen } = props;
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
  const pages = usePlantPages({ tag, at, visible, hovered });
  const { known, rows, isComplete, plantAt } = pages;
  const isJump = useAddress().jumps > 0;
  const scroll = useScrollWindow({ rows, rowHeight, onVisible: show });
  const widths = {
    '--ids': useTextWidth('.plant-id > span'),
    '--names': useTextWidth('.plant-name > *'),
  };
  const [active, setActive] = useActiveRow(pages);
  const range = useRangeSelection(selection, pages, active);

  const isStartKnown = rows.first === known.first;
  const isAtStart = isStartKnown && visible.first <= known.first;
  const topId = plantAt(visible.first)?.id;
  useEffect(() => {
    if (!isAtStart && topId === undefined) return;
    const timer = setTimeout(() => keepPlace(isAtStart ? undefined : topId), pause);
    return () => clearTimeout(timer);
  }, [isAtStart, topId]);

  const watch = useCallback(
    (element: HTMLDivElement) => {
      // A jump replaces the table. The old table had the focus, so the new table takes the focus.
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

  // The button for the previous or the next plant may have opened another plant.
  const openRow = open === undefined ? undefined : drawn.find((row) => plantAt(row)?.id === open);
  const [lastOpenRow, setLastOpenRow] = useState(openRow);
  if (openRow !== lastOpenRow) {
    setLastOpenRow(openRow);
    if (openRow !== undefined) setActive(openRow);
  }

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
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, visible.last - visible.first - 1);
    const plant = plantAt(active);
    const moves: Record<string, () => number | undefined> = {
      ArrowDown: () => moveTo(active + 1),
      ArrowUp: () => moveTo(active - 1),
      PageDown: () => moveTo(active + page),
      PageUp: () => moveTo(active - page),
      Home: toStart,
      End: () => moveTo(known.end - 1),
    };
    const others: Record<string, () => void> = {
      Enter: () => plant && onOpen(plant),
      ' ': () => plant && range.toggle(active, event.shiftKey),
      Escape: range.clear,
    };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = moves[event.key] ?? others[event.key];
    if (!action) return;
    event.preventDefault();
    const row = action();
    if (typeof row !== 'number') return;
    if (event.shiftKey) void range.extend(row);
    else range.restart();
  };

  if (pages.error && known.first === known.end) {
    return <p className="table-message">The plants cannot be shown. {explainError(pages.error)}</p>;
  }
  if (isComplete && rows.first === rows.end) return children;
  const style = {
    '--columns': selection ? `1.125rem ${columns}` : columns,
    ...widths,
    '--row-height': `${rowHeight}px`,
  } as CSSProperties; // React's type has no CSS variables.
  return (
    <div
      ref={watch}
      className="plant-table"
      role="grid"
      aria-label={tag === undefined ? 'Plants' : `Plants with the tag “${tag}”`}
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
              onOpen={() => {
                setActive(row);
                if (plant) onOpen(plant);
              }}
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
