import {
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
} from 'react';
import { Button } from './button.tsx';
import styles from './dialog.module.css';

interface DialogProps {
  title: ReactNode;
  children: ReactNode;
  /**
   * `side`: at the right edge of a wide screen, and over the whole screen of a phone. `beside`: beside
   * the list, which stays usable. On a phone, `beside` is the same as `side`.
   */
  place?: 'middle' | 'side' | 'beside';
  role?: 'alertdialog';
  /** Whether the dialog stays open until its work has ended. */
  isBusy?: boolean;
  onClose(): void;
}

/** A dialog, which is open while React renders it. When the dialog closes, the browser restores the focus. */
export function Dialog(props: DialogProps) {
  const { title, children, place = 'middle', role, isBusy = false, onClose } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const { current: dialog } = element;
    const isBeside = place === 'beside' && matchMedia('(width >= 48rem)').matches;
    if (isBeside) dialog?.show();
    else dialog?.showModal();
    // By default, the browser would focus the button that closes the dialog.
    const first = dialog?.querySelector<HTMLElement>('[data-focus], textarea, input:not([hidden])');
    (first ?? dialog?.querySelector('h2'))?.focus({ preventScroll: true });
    return () => dialog?.close();
  }, [place]);
  return (
    <dialog
      ref={element}
      role={role}
      className={`card ${styles[place]}`}
      aria-labelledby={id}
      // When the user presses Escape, the browser closes only a modal dialog.
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Escape' && !currentTarget.matches(':modal')) onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        if (!isBusy && event.target === event.currentTarget) onClose();
      }}
      // At a second Escape, browsers close a dialog even if `onCancel` has prevented the default.
      onClose={({ currentTarget, target }) => {
        if (target !== currentTarget || currentTarget.open) return;
        currentTarget.showModal();
        if (!isBusy) onClose();
      }}
    >
      <div className={styles.header}>
        <h2 id={id} tabIndex={-1} className="clamp">
          {title}
        </h2>
        {place !== 'middle' && !isBusy && (
          <Button kind="quiet" aria-label="Close" icon="close" onClick={onClose} />
        )}
      </div>
      <div className={`stack ${styles.body}`}>{children}</div>
    </dialog>
  );
}

/** A notice disappears after this number of milliseconds. */
const shownFor = 6_000;

let latest: { readonly text: string } | undefined;
const listeners = new Set<() => void>();

/** Shows a notice, which replaces the previous notice. Without a text, the notice disappears. */
export function notify(text?: string): void {
  latest = text === undefined ? undefined : { text };
  for (const tell of listeners) tell();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Shows notices over the lower edge of the page. A notice moves no content, and lets clicks through. */
export function Notices() {
  const notice = useSyncExternalStore(subscribe, () => latest);
  useEffect(() => {
    const timer = notice && setTimeout(notify, shownFor);
    return () => clearTimeout(timer);
  }, [notice]);
  return (
    <div role="status" className="notices">
      {notice && <p className="card">{notice.text}</p>}
    </div>
  );
}
