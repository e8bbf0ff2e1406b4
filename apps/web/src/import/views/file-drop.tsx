import { useEffect, useState } from 'react';
import './file-drop.css';

/** Accepts files that the user drops anywhere on the page. Shows a hint while the user drags files. */
export function FileDrop({ onFiles }: { onFiles(files: readonly File[]): void }) {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault(); // By default, the browser opens a dropped file.
      setIsOver(true);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      // `relatedTarget` is null when the pointer leaves the page.
      if (relatedTarget === null) setIsOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setIsOver(false);
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      onFiles(files);
    };
    const stopped = new AbortController();
    const { signal } = stopped;
    addEventListener('dragover', onDragOver, { signal });
    addEventListener('dragleave', onDragLeave, { signal });
    addEventListener('drop', onDrop, { signal });
    return () => stopped.abort();
  }, [onFiles]);
  if (!isOver) return null;
  // The hint is a popover, because the hint must cover an open dialog.
  return (
    <div ref={showAbove} popover="manual" className="file-drop">
      Drop the files to add their plants
    </div>
  );
}

function showAbove(element: HTMLElement | null): void {
  element?.showPopover();
}
