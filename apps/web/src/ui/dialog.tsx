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
  /** `side`: at the right edge of a wide screen, and over the whole screen of a phone. */
  place?: 'side' | 'middle';
  role?: 'alertdialog';
  /** Whether the dialog stays open until its work has ended. */
  isBusy?: boolean;
  /** Runs when the user wants to close the dialog. */
  onClose(): void;
}

/** A modal dialog, which is open while it is in the page. The browser brings the focus back afterwards. */
export function Dialog(props: DialogProps) {
  const { title, children, place = 'middle', role, isBusy = false, onClose } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const { current: dialog } = element;
    dialog?.showModal();
    // By default, the browser would focus the button that closes the dialog.
    dialog?.querySelector<HTMLElement>('[data-focus], textarea, input:not([hidden])')?.focus();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      role={role}
      className={styles[place]}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!isBusy && event.target === event.currentTarget) onClose();
      }}
      // Browsers close a dialog at the second Escape, whatever a listener of `cancel` does.
      onClose={({ currentTarget, target }) => {
        if (target !== currentTarget || currentTarget.open) return;
        currentTarget.showModal();
        if (!isBusy) onClose();
      }}
    >
      <div className={styles.header}>
        <h2 id={id} className={`clamp ${styles.title}`}>
          {title}
        </h2>
        {place === 'side' && !isBusy && (
          <Button kind="quiet" aria-label="Close" icon="close" onClick={onClose} />
        )}
      </div>
      <div className={`stack ${styles.body}`}>{children}</div>
    </dialog>
  );
}

interface BesideProps {
  title: ReactNode;
  children: ReactNode;
  onClose(): void;
}

/** A part of the page beside the list. On a phone, it is a dialog over the list. */
export function Beside(props: BesideProps) {
  const isWide = useMedia('(width >= 48rem) and (height >= 24rem)');
  return isWide ? <Aside {...props} /> : <Dialog place="side" {...props} />;
}

function Aside({ title, children, onClose }: BesideProps) {
  const id = useId();
  const element = useRef<HTMLElement>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    const { activeElement: opener } = document;
    const { current: aside } = element;
    heading.current?.focus({ preventScroll: true });
    return () => {
      const hadFocus = aside?.contains(document.activeElement);
      if (hadFocus && opener instanceof HTMLElement) opener.focus({ preventScroll: true });
    };
  }, []);
  useEffect(() => {
    const closeOnEscape = ({ key, defaultPrevented }: KeyboardEvent) => {
      if (key !== 'Escape' || defaultPrevented) return;
      if (!document.querySelector('dialog[open]')) onClose();
    };
    addEventListener('keydown', closeOnEscape);
    return () => removeEventListener('keydown', closeOnEscape);
  }, [onClose]);
  return (
    <aside ref={element} className={`card ${styles.beside}`} aria-labelledby={id}>
      <div className={styles.header}>
        <h2 ref={heading} tabIndex={-1} id={id} className={`clamp ${styles.title}`}>
          {title}
        </h2>
        <Button kind="quiet" aria-label="Close" icon="close" onClick={onClose} />
      </div>
      <div className={`stack ${styles.body}`}>{children}</div>
    </aside>
  );
}

interface QuestionProps {
  title: ReactNode;
  children: ReactNode;
  /** The label of the button that confirms. */
  confirm: string;
  /** Further buttons, before the button that confirms. */
  actions?: ReactNode;
  isDisabled?: boolean;
  isBusy?: boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks the user to confirm an action that cannot be undone. */
export function Question(props: QuestionProps) {
  const { title, children, confirm, actions, isDisabled = false, isBusy = false } = props;
  return (
    <Dialog role="alertdialog" title={title} isBusy={isBusy} onClose={props.onCancel}>
      {children}
      <div className="row">
        {!isBusy && actions}
        {!isBusy && (
          <Button data-focus onClick={props.onCancel}>
            Cancel
          </Button>
        )}
        <Button kind="danger" disabled={isDisabled || isBusy} onClick={props.onConfirm}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}

function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const list = matchMedia(query);
      list.addEventListener('change', listener);
      return () => list.removeEventListener('change', listener);
    },
    () => matchMedia(query).matches,
  );
}
