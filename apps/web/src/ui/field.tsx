import { type ComponentProps, type KeyboardEvent, useId } from 'react';
import styles from './field.module.css';

interface FieldProps extends Omit<ComponentProps<'input'>, 'onChange' | 'value'> {
  label: string;
  value: string;
  onChange(value: string): void;
  /** Explains which values the field accepts. */
  hint?: string | undefined;
  error?: string | undefined;
  /** Whether the text may have line breaks. */
  isMultiline?: boolean;
}

/** A text field with its label, a hint and an error. */
export function Field({ label, value, onChange, hint, error, isMultiline, ...rest }: FieldProps) {
  const id = useId();
  const input = {
    id,
    value,
    className: 'input',
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': error !== undefined,
    'aria-describedby': `${id}-hint ${id}-error`,
  };
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {isMultiline ? (
        <textarea
          rows={value.split('\n', 8).length}
          dir="auto"
          {...input}
          onChange={({ target }) => onChange(withBreaksOf(value, target.value))}
          onKeyDown={submitOnEnter}
        />
      ) : (
        <input type="text" {...rest} {...input} onChange={({ target }) => onChange(target.value)} />
      )}
      {hint && <p id={`${id}-hint`}>{hint}</p>}
      <p id={`${id}-error`} className={styles.error} aria-live="polite">
        {error}
      </p>
    </div>
  );
}

/** Restores the line breaks of a text. A browser turns every line break in a text area into `\n`. */
function withBreaksOf(before: string, text: string): string {
  const [lineBreak = '\n'] = /\r\n?/.exec(before) ?? [];
  return text.replaceAll('\n', lineBreak);
}

/** In a form, Enter submits, as in a field of one line, and Shift+Enter makes a line break. */
function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  const { form } = event.currentTarget;
  if (!form || event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
}

interface CheckProps {
  label: string;
  isChecked: boolean;
  onChange(isChecked: boolean): void;
}

/** A checkbox with its label. */
export function Check({ label, isChecked, onChange }: CheckProps) {
  return (
    <label className={styles.check}>
      <input
        type="checkbox"
        checked={isChecked}
        onChange={({ target }) => onChange(target.checked)}
      />
      {label}
    </label>
  );
}
