import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Button } from './button.tsx';
import './question.css';

interface QuestionProps {
  title: string;
  text: string;
  /** The label of the button that confirms. */
  confirm: string;
  isOpen: boolean;
  onConfirm(): void;
  onCancel(): void;
}

/** Asks before something that cannot be undone. */
export function Question({ title, text, confirm, isOpen, onConfirm, onCancel }: QuestionProps) {
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => !open && onCancel()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" forceRender />
        <AlertDialog.Popup className="question card">
          <AlertDialog.Title className="question-title">{title}</AlertDialog.Title>
          <AlertDialog.Description className="question-text">{text}</AlertDialog.Description>
          <div className="question-answers">
            <AlertDialog.Close className="button button-plain">Cancel</AlertDialog.Close>
            <Button kind="danger" onClick={onConfirm}>
              {confirm}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
