import { type ComponentProps, type KeyboardEvent, type ReactNode, useId } from 'react';
import { maxShown } from './client-text.tsx';
import styles from './controls.module.css';

interface FieldProps extends ComponentProps<'input'> {
  label: string;
  hint?: string | undefined;
  error?: string | undefined;
}

/** An input with its label, a hint and an error. */
export function Field({ label, hint, error, ...rest }: FieldProps) {
  const { wrap, input } = useField({ label, hint, error });
  return wrap(<input type="text" {...input} {...rest} />);
}

type TextAreaProps = Pick<FieldProps, 'label' | 'hint' | 'error'> & ComponentProps<'textarea'>;

/** An input for a text that may have line breaks, with its label, a hint and an error. */
export function TextArea({ label, hint, error, ...rest }: TextAreaProps) {
  const { wrap, input } = useField({ label, hint, error });
  return wrap(<textarea dir="auto" onPaste={keepLongTextInLine} {...input} {...rest} />);
}

/** Wrapping a name of 900 kB freezes a browser for seconds. Without wrapping, the freeze is much shorter. */
const keepLongTextInLine: TextAreaProps['onPaste'] = ({ clipboardData, currentTarget }) => {
  if (clipboardData.getData('text').length > maxShown) currentTarget.wrap = 'off';
};

function useField({ label, hint, error }: Pick<FieldProps, 'label' | 'hint' | 'error'>) {
  const id = useId();
  const input = {
    id,
    className: 'input',
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': error !== undefined,
    'aria-describedby': `${id}-hint ${id}-error`,
  };
  const wrap = (control: ReactNode) => (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {control}
      {hint && (
        <p id={`${id}-hint`} className="help">
          {hint}
        </p>
      )}
      <p id={`${id}-error`} className={`error ${styles.error}`} aria-live="polite">
        {error}
      </p>
    </div>
  );
  return { input, wrap };
}

/** In a form, Enter submits the form, as in an input of one line. Shift+Enter makes a line break. */
export function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  const { form } = event.currentTarget;
  if (!form || event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
}

export function Check({ label, ...rest }: ComponentProps<'input'> & { label: string }) {
  return (
    <label className={styles.check}>
      <input type="checkbox" {...rest} />
      {label}
    </label>
  );
}
