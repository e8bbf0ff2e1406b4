import { type ComponentProps, useLayoutEffect, useRef } from 'react';

interface ModalProps extends ComponentProps<'dialog'> {
  isOpen: boolean;
  /** Called when the user presses Escape or clicks beside the dialog. */
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
      // Browsers close a dialog at the second Escape, even if a `cancel` listener prevents it.
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onLeave();
      }}
      // Handles Escape while no part of the dialog has the focus: the focused button was removed.
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
      // Selecting text past the edge also ends in a click beside the dialog, which must not close it.
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
