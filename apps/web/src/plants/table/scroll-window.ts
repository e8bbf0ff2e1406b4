import { useCallback, useLayoutEffect, useRef, useState } from 'react';

export const rowHeight = 44;
const headerHeight = 40;

/** Pixels of all rows in the page. Browsers allow some millions, and a million rows are 44 million. */
const maxHeight = 1_000_000;

/** Pixels by which the window moves, whole rows. */
const step = wholeRows(maxHeight / 2);

/** The rows on the screen. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

/**
 * The rows of a list in an element that shows a window of them. When the scroll position comes near
 * an end of the window, the window moves, and the rows on the screen stay where they are.
 *
 * All rows have the same height, so a division finds those on the screen.
 */
export function useScrollWindow(rowCount: number, onVisible: (range: RowRange) => void) {
  const scrollRef = useRef<HTMLDivElement | null>(null);
  const [start, setStart] = useState(0);
  const applied = useRef({ start, scrollTo: 0 });

  const report = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = scrollRef.current ?? {};
    const top = applied.current.start + scrollTop;
    const bottom = top + clientHeight - headerHeight;
    onVisible({ first: rowAt(top), last: Math.max(rowAt(top), rowAt(bottom - 1)) });
  }, [onVisible]);

  const moveWindow = useCallback((newStart: number, scrollTo: number) => {
    applied.current.scrollTo = scrollTo;
    setStart(newStart);
  }, []);

  useLayoutEffect(() => {
    if (!scrollRef.current || applied.current.start === start) return;
    applied.current.start = start;
    scrollRef.current.scrollTop = applied.current.scrollTo - start;
    report();
  }, [start, report]);

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

  const total = rowCount * rowHeight;
  const onScroll = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = scrollRef.current ?? {};
    if (applied.current.start !== start) return;
    report();
    const offset = start + scrollTop;
    const isNearEnd = scrollTop + clientHeight > maxHeight * 0.8;
    const isNearStart = scrollTop < maxHeight * 0.2;
    if (isNearEnd && start + maxHeight < total) moveWindow(start + step, offset);
    else if (isNearStart && start > 0) moveWindow(Math.max(0, start - step), offset);
  }, [start, total, moveWindow, report]);

  /** Scrolls as little as needed to show a row. */
  const reveal = useCallback(
    (row: number) => {
      const element = scrollRef.current;
      if (!element) return;
      const top = row * rowHeight;
      const firstVisible = applied.current.start + element.scrollTop;
      const visible = element.clientHeight - headerHeight;
      let offset = firstVisible;
      if (top < firstVisible) offset = top;
      if (top + rowHeight > firstVisible + visible) offset = top + rowHeight - visible;

      const scrollTop = offset - applied.current.start;
      const isInWindow = scrollTop >= 0 && scrollTop + element.clientHeight <= maxHeight;
      if (isInWindow) element.scrollTop = scrollTop;
      else moveWindow(wholeRows(Math.max(0, offset - maxHeight / 2)), offset);
    },
    [moveWindow],
  );

  const height = Math.min(total - start, maxHeight);
  return { watch, start, height, onScroll, reveal };
}

function rowAt(pixel: number): number {
  return Math.floor(pixel / rowHeight);
}

function wholeRows(pixels: number): number {
  return pixels - (pixels % rowHeight);
}
