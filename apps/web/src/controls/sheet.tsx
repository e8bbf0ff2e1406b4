import { type ReactNode, useId } from 'react';
import { Button } from './button.tsx';
import { Modal } from './modal.tsx';
import './sheet.css';

interface SheetProps {
  title: ReactNode;
  children: ReactNode;
  /** Whether the page beside the dialog stays usable. By default, the dialog is modal. */
  isBeside?: boolean;
  onClose(): void;
}

/** A dialog at the side of the page. On a phone, the dialog covers the page. */
export function Sheet({ title, children, isBeside = false, onClose }: SheetProps) {
  const id = useId();
  return (
    <Modal className="sheet" aria-labelledby={id} isBeside={isBeside} onLeave={onClose}>
      <div className="sheet-content">
        <div className="sheet-header">
          <h2 id={id} className="sheet-title three-lines">
            {title}
          </h2>
          <Button kind="quiet" aria-label="Close" onClick={onClose} icon="close" />
        </div>
        <div className="sheet-body">{children}</div>
      </div>
    </Modal>
  );
}
