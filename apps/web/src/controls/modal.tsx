import { type ComponentProps, useLayoutEffect, useRef } from 'react';

interface ModalProps extends ComponentProps<'dialog'> {
  isOpen: boolean;
  /** Somebody wants to close the dialog: by Escape, or by a click beside it. */
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
    // By default the first button gets the focus, and that button closes the dialog.
    (
      opened.querySelector<HTMLElement>('[data-focus], textarea, input[type=text]') ?? opened
    ).focus();
    return () => opened.close();
  }, [isOpen]);
  return (
    <dialog
      ref={element}
      tabIndex={-1}
      // Browsers close a dialog at the second Escape, whatever its event `cancel` says.
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onLeave();
      }}
      // Escape while no part of the dialog has the focus, because a focused button has gone.
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
      // A text that is selected beyond the edge ends in a click beside the dialog, too.
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
