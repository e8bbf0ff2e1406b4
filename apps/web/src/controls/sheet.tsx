import { Dialog } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';
import { Icon } from './icon.tsx';
import './sheet.css';

interface SheetProps {
  title: string;
  /** Undefined closes the sheet. */
  children: ReactNode | undefined;
  onClose(): void;
}

/** A dialog at the side of the page; on a phone it covers the page. */
export function Sheet({ title, children, onClose }: SheetProps) {
  const popup = useRef<HTMLDivElement>(null);
  // By default the first button gets the focus, and that button closes the sheet.
  const initialFocus = () =>
    popup.current?.querySelector<HTMLElement>('input[type=text]') ?? popup.current;
  return (
    <Dialog.Root open={children !== undefined} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup ref={popup} className="sheet" initialFocus={initialFocus}>
          <header className="sheet-header">
            <Dialog.Title className="sheet-title">{title}</Dialog.Title>
            <Dialog.Close className="button button-quiet sheet-close" aria-label="Close">
              <Icon name="close" />
            </Dialog.Close>
          </header>
          <div className="sheet-body">{children}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
