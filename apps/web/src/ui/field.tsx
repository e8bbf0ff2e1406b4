import { type ComponentProps, type KeyboardEvent, useId } from 'react';
import styles from './field.module.css';

interface FieldProps extends ComponentProps<'input'> {
  label: string;
  /** Explains which values the field accepts. */
  hint?: string | undefined;
  /** Says why the store rejects the value. */
  error?: string | undefined;
}

/** A text field with its label, a hint and an error. */
export function Field({ label, hint, error, ...rest }: FieldProps) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <input type="text" {...inputProps(id, error)} {...rest} />
    </Labelled>
  );
}

type TextAreaProps = Pick<FieldProps, 'label' | 'hint' | 'error'> & ComponentProps<'textarea'>;

/** A text field for texts that may have line breaks. */
export function TextArea({ label, hint, error, ...rest }: TextAreaProps) {
  const id = useId();
  return (
    <Labelled id={id} label={label} hint={hint} error={error}>
      <textarea
        rows={1}
        dir="auto"
        onKeyDown={submitOnEnter}
        {...inputProps(id, error)}
        {...rest}
      />
    </Labelled>
  );
}

function Labelled({ id, label, hint, error, children }: FieldProps) {
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children}
      {hint && <p id={`${id}-hint`}>{hint}</p>}
      <p id={`${id}-error`} className={styles.error} aria-live="polite">
        {error}
      </p>
    </div>
  );
}

function inputProps(id: string, error: string | undefined) {
  return {
    id,
    className: 'input',
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': error !== undefined,
    'aria-describedby': `${id}-hint ${id}-error`,
  };
}

/** In a form, Enter submits, as in a field of one line, and Shift+Enter makes a line break. */
function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  const { form } = event.currentTarget;
  if (!form || event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
}

/** A checkbox with its label. */
export function Check({ label, ...rest }: ComponentProps<'input'> & { label: string }) {
  return (
    <label className={styles.check}>
      <input type="checkbox" {...rest} />
      {label}
    </label>
  );
}
