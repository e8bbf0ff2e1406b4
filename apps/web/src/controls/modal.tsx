import { type ComponentProps, useLayoutEffect, useRef } from 'react';

interface ModalProps extends ComponentProps<'dialog'> {
  /** Whether the dialog is not modal, but a part of the page. */
  isBeside?: boolean;
  /** Runs when the user presses Escape or clicks beside the dialog. */
  onLeave(): void;
}

/** A `<dialog>` element, which is open while it is in the page. */
export function Modal({ isBeside = false, onLeave, ...dialog }: ModalProps) {
  const element = useRef<HTMLDialogElement>(null);
  const isPressedBeside = useRef(false);
  useLayoutEffect(() => {
    const { current: opened } = element;
    if (!opened) return;
    const { activeElement: before } = document;
    if (isBeside) {
      opened.open = true;
      // The focus stays in the table, so that the arrow keys go through the plants.
      if (before === document.body) opened.focus();
      return () => {
        const hadFocus = opened.contains(document.activeElement);
        opened.close();
        if (hadFocus) document.querySelector<HTMLElement>('[role=grid]')?.focus();
      };
    }
    opened.showModal();
    // By default, the browser would focus the first button, which closes the dialog.
    (
      opened.querySelector<HTMLElement>('[data-focus], textarea, input[type=text]') ?? opened
    ).focus();
    return () => opened.close();
  }, [isBeside]);
  return (
    <dialog
      ref={element}
      tabIndex={-1}
      // Browsers close a dialog at the second Escape, even when a `cancel` listener calls `preventDefault`.
      onKeyDown={(event) => {
        if (!isBeside) event.stopPropagation();
        if (event.key !== 'Escape') return;
        event.preventDefault();
        onLeave();
      }}
      // When no part of the dialog has the focus, Escape sends a `cancel` event and no `keydown` event.
      onCancel={(event) => {
        event.preventDefault();
        onLeave();
      }}
      // A click that begins inside the dialog, such as the selection of a text, must not close the dialog.
      onPointerDown={({ target, currentTarget }) => {
        isPressedBeside.current = target === currentTarget;
      }}
      onClick={({ target, currentTarget }) =>
        !isBeside && target === currentTarget && isPressedBeside.current && onLeave()
      }
      {...dialog}
    />
  );
}
