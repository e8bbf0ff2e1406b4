import { type ReactNode, useId, useState } from 'react';
import { Button } from './button.tsx';
import { Modal } from './modal.tsx';
import './question.css';
import { TextField } from './text-field.tsx';

interface QuestionProps {
  title: ReactNode;
  text: ReactNode;
  /** The label of the button that confirms. */
  confirm: string;
  /** A field for a text that the user must type to confirm. */
  field?: { label: string; inputMode?: 'numeric' } | false;
  /** Whether the typed text enables the button that confirms. */
  isConfirmed?(typed: string): boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks the user to confirm an action that cannot be undone. */
export function Question(props: QuestionProps) {
  const { title, text, confirm, field, isConfirmed = () => true, onConfirm, onCancel } = props;
  const id = useId();
  const [typed, setTyped] = useState('');
  return (
    <Modal
      className="question"
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onLeave={onCancel}
    >
      <div className="question-content">
        <h2 id={`${id}-title`} className="three-lines">
          {title}
        </h2>
        <p id={`${id}-text`} className="question-text">
          {text}
        </p>
        {field && <TextField {...field} value={typed} onChange={setTyped} autoFocus />}
        <div className="question-buttons">
          <Button data-focus onClick={onCancel}>
            Cancel
          </Button>
          <Button kind="danger" disabled={!isConfirmed(typed)} onClick={onConfirm}>
            {confirm}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
