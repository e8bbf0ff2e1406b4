import {
  type Dispatch,
  type SetStateAction,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

/**
 * The element that contains the rows has at most this height in pixels. Browsers allow only some million
 * pixels, but a million rows need 36 million pixels.
 */
const maxHeight = 1_000_000;

/** The first and the last row on the screen. */
export interface RowRange {
  readonly first: number;
  readonly last: number;
}

interface ScrollWindowOptions {
  /** The first row, and the row after the last row. `first` is negative when there are rows before row 0. */
  rows: { readonly first: number; readonly end: number };
  /** The height of a row in pixels. */
  rowHeight: number;
  setVisible: Dispatch<SetStateAction<RowRange>>;
}

/**
 * Shows a list in an element that contains only a part of the rows, the window. When the user scrolls near an
 * end of the window, the window moves. The rows on the screen stay in place, even when the list gets earlier
 * rows.
 *
 * All rows have the same height, so a division finds the rows on the screen. Offsets are pixels from the
 * first row.
 */
export function useScrollWindow({ rows, rowHeight, setVisible }: ScrollWindowOptions) {
  const scrollRef = useRef<HTMLDivElement | null>(null);
  const [start, setStart] = useState(0);
  // The current position of the element. After a change of `start`, the next render moves the element.
  const applied = useRef({ start, scrollTo: 0, first: 0 });

  const report = useCallback(() => {
    const { scrollTop, height } = measure(scrollRef.current);
    const { start, first } = applied.current;
    const rowAt = (pixel: number) => first + Math.floor(pixel / rowHeight);
    const top = start + scrollTop;
    const range = { first: rowAt(top), last: Math.max(rowAt(top), rowAt(top + height - 1)) };
    setVisible((latest) =>
      latest.first === range.first && latest.last === range.last ? latest : range,
    );
  }, [setVisible, rowHeight]);

  const scrollTo = (offset: number) => {
    const element = scrollRef.current;
    if (!element) return;
    const scrollTop = offset - applied.current.start;
    if (scrollTop >= 0 && scrollTop + element.clientHeight <= maxHeight) {
      element.scrollTop = scrollTop;
      return;
    }
    const middle = Math.max(0, offset - maxHeight / 2);
    applied.current.scrollTo = offset;
    setStart(middle - (middle % rowHeight));
  };

  useLayoutEffect(() => {
    if (!scrollRef.current || applied.current.start === start) return;
    applied.current.start = start;
    scrollRef.current.scrollTop = applied.current.scrollTo - start;
    report();
  }, [start, report]);

  // This effect has no list of dependencies, because the element may appear in a later render than the rows.
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
  const onScroll = () => {
    const { scrollTop = 0, clientHeight = 0 } = scrollRef.current ?? {};
    if (applied.current.start !== start) return;
    report();
    const isNearEnd = scrollTop + clientHeight > maxHeight * 0.8 && start + maxHeight < total;
    const isNearStart = scrollTop < maxHeight * 0.2 && start > 0;
    if (!isNearEnd && !isNearStart) return;
    const step = maxHeight / 2 - ((maxHeight / 2) % rowHeight);
    applied.current.scrollTo = start + scrollTop;
    setStart(isNearEnd ? start + step : Math.max(0, start - step));
  };

  /** Scrolls until a row is on the screen, but not further. */
  const reveal = (row: number) => {
    const { scrollTop, height } = measure(scrollRef.current);
    const { start, first } = applied.current;
    const top = (row - first) * rowHeight;
    const offset = start + scrollTop;
    if (top < offset) scrollTo(top);
    else if (top + rowHeight > offset + height) scrollTo(top + rowHeight - height);
  };

  const height = Math.min(total - start, maxHeight);
  return { watch, start, height, onScroll, reveal };
}

/** Returns the scroll position, and the height of the part below the header, in pixels. */
function measure(element: HTMLElement | null) {
  const { scrollTop = 0, clientHeight = 0, firstElementChild } = element ?? {};
  return { scrollTop, height: clientHeight - (firstElementChild?.clientHeight ?? 0) };
}
