import type { ReactNode } from 'react';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import './notice.css';

export interface NoticeText {
  text: ReactNode;
  /** A link or a button for the event. */
  action?: { label: string; run(): void };
}

interface NoticeProps {
  notice: NoticeText | undefined;
  onClose(): void;
}

/** Shows the latest event, until the user closes the notice or another event occurs. */
export function Notice({ notice, onClose }: NoticeProps) {
  return (
    <div role="status" className="notice-place">
      {notice && (
        <div className="notice">
          <span className="notice-text">{notice.text}</span>
          {notice.action && (
            <Button kind="quiet" onClick={notice.action.run}>
              {notice.action.label}
            </Button>
          )}
          <Button
            kind="quiet"
            className="icon-button"
            aria-label="Close the notice"
            onClick={onClose}
          >
            <Icon name="close" />
          </Button>
        </div>
      )}
    </div>
  );
}
