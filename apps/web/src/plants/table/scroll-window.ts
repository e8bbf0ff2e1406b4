import { useCallback, useLayoutEffect, useRef, useState } from 'react';

/** Pixels of all rows in the page. Browsers allow some millions; a million rows would need 36 million. */
const maxHeight = 1_000_000;

/** The rows on the screen. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

interface ScrollWindowOptions {
  /** The rows from the first one to the one before `end`. The first one is negative when rows come before. */
  rows: { readonly first: number; readonly end: number };
  /** Pixels of a row. */
  rowHeight: number;
  onVisible(range: RowRange): void;
}

/**
 * The rows of a list in an element that shows a window of them. When the scroll position comes near
 * an end of the window, the window moves, and the rows on the screen stay where they are. They
 * also stay there when the list adds rows before them.
 *
 * All rows have the same height, so a division finds those on the screen. Offsets are pixels from the
 * first row.
 */
export function useScrollWindow({ rows, rowHeight, onVisible }: ScrollWindowOptions) {
  const scrollRef = useRef<HTMLDivElement | null>(null);
  const [start, setStart] = useState(0);
  // The rows that the element shows now: it shows those of the state only after the next render.
  const applied = useRef({ start, scrollTo: 0, first: 0 });

  const report = useCallback(() => {
    const { scrollTop, height } = measure(scrollRef.current);
    const { start, first } = applied.current;
    const rowAt = (pixel: number) => first + Math.floor(pixel / rowHeight);
    const top = start + scrollTop;
    onVisible({ first: rowAt(top), last: Math.max(rowAt(top), rowAt(top + height - 1)) });
  }, [onVisible, rowHeight]);

  const scrollTo = useCallback(
    (offset: number) => {
      const element = scrollRef.current;
      if (!element) return;
      const scrollTop = offset - applied.current.start;
      const isInWindow = scrollTop >= 0 && scrollTop + element.clientHeight <= maxHeight;
      if (isInWindow) {
        element.scrollTop = scrollTop;
        return;
      }
      const middle = Math.max(0, offset - maxHeight / 2);
      applied.current.scrollTo = offset;
      setStart(middle - (middle % rowHeight));
    },
    [rowHeight],
  );

  useLayoutEffect(() => {
    if (!scrollRef.current || applied.current.start === start) return;
    applied.current.start = start;
    scrollRef.current.scrollTop = applied.current.scrollTo - start;
    report();
  }, [start, report]);

  // Runs after every render, because the element may appear later than the rows.
  useLayoutEffect(() => {
    const added = applied.current.first - rows.first;
    if (!scrollRef.current || added === 0) return;
    applied.current.first = rows.first;
    scrollTo(applied.current.start + scrollRef.current.scrollTop + added * rowHeight);
    report();
  });

  /** Observes the element, which exists only while the list has rows. */
  const watch = useCallback(
    (element: HTMLDivElement) => {
      scrollRef.current = element;
      const observer = new ResizeObserver(report);
      observer.observe(element);
      return () => {
        scrollRef.current = null;
        observer.disconnect();
      };
    },
    [report],
  );

  const total = (rows.end - rows.first) * rowHeight;
  const onScroll = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = scrollRef.current ?? {};
    if (applied.current.start !== start) return;
    report();
    const isNearEnd = scrollTop + clientHeight > maxHeight * 0.8 && start + maxHeight < total;
    const isNearStart = scrollTop < maxHeight * 0.2 && start > 0;
    if (!isNearEnd && !isNearStart) return;
    const step = maxHeight / 2 - ((maxHeight / 2) % rowHeight);
    applied.current.scrollTo = start + scrollTop;
    setStart(isNearEnd ? start + step : Math.max(0, start - step));
  }, [start, total, rowHeight, report]);

  /** Scrolls as little as needed to show a row. */
  const reveal = useCallback(
    (row: number) => {
      const { scrollTop, height } = measure(scrollRef.current);
      const { start, first } = applied.current;
      const top = (row - first) * rowHeight;
      const offset = start + scrollTop;
      if (top < offset) scrollTo(top);
      else if (top + rowHeight > offset + height) scrollTo(top + rowHeight - height);
    },
    [rowHeight, scrollTo],
  );

  const height = Math.min(total - start, maxHeight);
  return { watch, start, height, onScroll, reveal };
}

/** The scroll position, and the height in pixels that is left for rows below the header. */
function measure(element: HTMLElement | null) {
  const { scrollTop = 0, clientHeight = 0, firstElementChild } = element ?? {};
  return { scrollTop, height: clientHeight - (firstElementChild?.clientHeight ?? 0) };
}
