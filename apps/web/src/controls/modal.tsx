import { type ComponentProps, useLayoutEffect, useRef } from 'react';

interface ModalProps extends ComponentProps<'dialog'> {
  isOpen: boolean;
  /** Runs when the user presses Escape or clicks beside the dialog. */
  onLeave(): void;
}

/** A modal dialog of the browser. Only `isOpen` opens and closes the dialog. */
export function Modal({ isOpen, onLeave, ...dialog }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null);
  const isPressedBeside = useRef(false);
  useLayoutEffect(() => {
    const { current: opened } = element;
    if (!opened || !isOpen) return;
    opened.showModal();
    // Without a focused element, the browser would focus the first button, which closes the dialog.
    (
      opened.querySelector<HTMLElement>('[data-focus], textarea, input[type=text]') ?? opened
    ).focus();
    return () => opened.close();
  }, [isOpen]);
  return (
    <dialog
      ref={element}
      tabIndex={-1}
      // Browsers close a dialog at the second Escape, even when a `cancel` listener calls `preventDefault`.
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onLeave();
      }}
      // When no part of the dialog has the focus, Escape causes `cancel` and no `keydown`.
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
      // A text selection that ends beside the dialog causes a click, which must not close the dialog.
      onPointerDown={({ target, currentTarget }) => {
        isPressedBeside.current = target === currentTarget;
      }}
      onClick={({ target, currentTarget }) =>
        target === currentTarget && isPressedBeside.current && onLeave()
      }
      {...dialog}
    />
  );
}
