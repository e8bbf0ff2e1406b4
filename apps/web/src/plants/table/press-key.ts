import type { KeyboardEvent } from 'react';
import type { useRangeSelection } from './active-rows.ts';
import type { RowRange } from './scroll-window.ts';

interface TableKeys {
  /** The active row, on which the keys act. */
  active: number;
  visible: RowRange;
  lastRow: number;
  range: ReturnType<typeof useRangeSelection>;
  /** Makes a row active. If the row does not exist, makes the nearest row active. Returns the active row. */
  moveTo(row: number): number;
  /** Makes the first row active. Returns undefined when the table has not loaded the first row. */
  toStart(): number | undefined;
  /** Opens the plant of the active row. */
  onOpen(): void;
  onEscape(): void;
}

/** Handles the keys that move through the rows, and the keys that act on the active row. */
export function pressKey(event: KeyboardEvent, keys: TableKeys): void {
  const { active, visible, lastRow, range, moveTo, toStart, onOpen, onEscape } = keys;
  const page = Math.max(1, visible.last - visible.first - 1);
  const moves: Record<string, () => number | undefined> = {
    ArrowDown: () => moveTo(active + 1),
    ArrowUp: () => moveTo(active - 1),
    PageDown: () => moveTo(active + page),
    PageUp: () => moveTo(active - page),
    Home: toStart,
    End: () => moveTo(lastRow),
  };
  const others: Record<string, () => void> = {
    Enter: onOpen,
    ' ': () => range.toggle(active, event.shiftKey),
    Escape: onEscape,
  };
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const action = moves[event.key] ?? others[event.key];
  if (!action) return;
  event.preventDefault();
  const row = action();
  if (typeof row !== 'number') return;
  if (event.shiftKey) void range.extend(row);
  else range.restart();
}
