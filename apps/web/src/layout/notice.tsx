import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from '../controls/button.tsx';
import './notice.css';

/** A notice disappears after this number of milliseconds without the pointer or the focus. */
const shownFor = 10_000;

export interface NoticeText {
  text: ReactNode;
  /** Buttons such as Undo. */
  actions?: readonly { label: string; run(): void }[];
}

interface NoticeProps {
  notice: NoticeText | undefined;
  onClose(): void;
}

/** Shows a notice about the latest event. The notice is below the table, and covers no row. */
export function Notice({ notice, onClose }: NoticeProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!notice) return;
    const timer = setInterval(() => {
      if (!place.current?.querySelector('.notice:is(:hover, :focus-within)')) onClose();
    }, shownFor);
    return () => clearInterval(timer);
  }, [notice, onClose]);
  return (
    <div ref={place} role="status" className="notice-place">
      {notice && (
        <div className="card notice">
          <span className="three-lines">{notice.text}</span>
          {notice.actions?.map(({ label, run }) => (
            <Button key={label} kind="quiet" onClick={run}>
              {label}
            </Button>
          ))}
          <Button kind="quiet" aria-label="Close the notice" onClick={onClose} icon="close" />
        </div>
      )}
    </div>
  );
}
