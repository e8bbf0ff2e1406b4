import { type ComponentProps, useLayoutEffect, useRef } from 'react';

interface ModalProps extends ComponentProps<'dialog'> {
  isOpen: boolean;
  /** Is called when the user presses Escape or clicks beside the dialog. */
  onLeave(): void;
}

/** A modal dialog of the browser. Only `isOpen` opens and closes it. */
export function Modal({ isOpen, onLeave, ...dialog }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null);
  const isPressedBeside = useRef(false);
  useLayoutEffect(() => {
    const { current: opened } = element;
    if (!opened || !isOpen) return;
    opened.showModal();
    // By default, the first button gets the focus, and this button closes the dialog.
    (
      opened.querySelector<HTMLElement>('[data-focus], textarea, input[type=text]') ?? opened
    ).focus();
    return () => opened.close();
  }, [isOpen]);
  return (
    <dialog
      ref={element}
      tabIndex={-1}
      // Browsers close a dialog at the second Escape, even if a `cancel` listener prevents it.
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onLeave();
      }}
      // Handles Escape when the focused button was removed, so that no part of the dialog has the focus.
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
      // A text selection that ends outside the dialog is a click beside it, but must not close the dialog.
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
