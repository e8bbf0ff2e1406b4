import { type ReactNode, useId } from 'react';
import { Button } from './button.tsx';
import { Modal } from './modal.tsx';
import './question.css';

interface QuestionProps {
  title: ReactNode;
  text: ReactNode;
  /** The label of the button that confirms. */
  confirm: string;
  /** Whether the button that confirms is enabled. */
  isConfirmed?: boolean;
  /** A form field that the dialog shows below `text`. */
  children?: ReactNode;
  isOpen: boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks the user to confirm an action that cannot be undone. */
export function Question(props: QuestionProps) {
  const { title, text, confirm, isConfirmed = true, children, isOpen, onConfirm, onCancel } = props;
  const id = useId();
  return (
    <Modal
      className="question"
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      isOpen={isOpen}
      onLeave={onCancel}
    >
      {isOpen && (
        <div className="question-content">
          <h2 id={`${id}-title`} className="three-lines">
            {title}
          </h2>
          <p id={`${id}-text`} className="question-text">
            {text}
          </p>
          {children}
          <div className="question-buttons">
            <Button data-focus onClick={onCancel}>
              Cancel
            </Button>
            <Button kind="danger" disabled={!isConfirmed} onClick={onConfirm}>
              {confirm}
            </Button>
          </div>
        </div>
      )}
    </Modal>
  );
}
