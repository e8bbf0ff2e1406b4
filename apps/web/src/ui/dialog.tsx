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
   * `side`: at the right edge of a wide screen, and over the whole screen of a phone. `beside`: a part of the page
   * beside the list, which stays usable. On a phone, it is the same as `side`.
   */
  place?: 'middle' | 'side' | 'beside';
  role?: 'alertdialog';
  /** Whether the dialog stays open until its work has ended. */
  isBusy?: boolean;
  /** Runs when the user wants to close the dialog. */
  onClose(): void;
}

/** A dialog, which is open while it is in the page. The browser brings the focus back afterwards. */
export function Dialog(props: DialogProps) {
  const { title, children, place = 'middle', role, isBusy = false, onClose } = props;
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  const isWide = useMedia('(width >= 48rem) and (height >= 24rem)');
  const isModal = place !== 'beside' || !isWide;
  useLayoutEffect(() => {
    const { current: dialog } = element;
    if (isModal) dialog?.showModal();
    else dialog?.show();
    // By default, the browser would focus the button that closes the dialog.
    const first = dialog?.querySelector<HTMLElement>('[data-focus], textarea, input:not([hidden])');
    (first ?? dialog?.querySelector('h2'))?.focus({ preventScroll: true });
    return () => dialog?.close();
  }, [isModal]);
  useEscape(!isModal, onClose);
  return (
    <dialog
      ref={element}
      role={role}
      className={`card ${styles[place]}`}
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

interface QuestionProps extends Omit<DialogProps, 'place' | 'role'> {
  /** The label of the button that confirms. */
  confirm: string;
  /** Further buttons, before the button that confirms. */
  actions?: ReactNode;
  isDisabled?: boolean;
  onConfirm(): void;
}

/** Asks the user to confirm an action that cannot be undone. */
export function Question(props: QuestionProps) {
  const { children, confirm, actions, isDisabled = false, onConfirm, ...dialog } = props;
  return (
    <Dialog role="alertdialog" {...dialog}>
      {children}
      <div className="row">
        {!dialog.isBusy && actions}
        {!dialog.isBusy && (
          <Button data-focus onClick={dialog.onClose}>
            Cancel
          </Button>
        )}
        <Button kind="danger" disabled={isDisabled || dialog.isBusy} onClick={onConfirm}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}

/** The browser closes only a modal dialog when the user presses Escape. */
function useEscape(isEnabled: boolean, onEscape: () => void): void {
  useEffect(() => {
    if (!isEnabled) return;
    const onKeyDown = ({ key, target }: KeyboardEvent) => {
      const isOther = document.querySelector('dialog:modal') || target instanceof HTMLInputElement;
      if (key === 'Escape' && !isOther) onEscape();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [isEnabled, onEscape]);
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
