import { type HTMLInputTypeAttribute, type KeyboardEvent, useId } from 'react';
import './text-field.css';

interface TextFieldProps {
  label: string;
  value: string;
  onChange(value: string): void;
  /** Explains which values the field accepts. */
  description?: string | undefined;
  error?: string | undefined;
  type?: HTMLInputTypeAttribute;
  /** The latest date of a field for dates. */
  max?: string;
  inputMode?: 'numeric';
  autoFocus?: boolean;
  /** Whether the text may have line breaks. */
  isMultiline?: boolean;
}

export function TextField(props: TextFieldProps) {
  const { label, value, onChange, description, error, isMultiline = false, ...rest } = props;
  const id = useId();
  const input = {
    ...rest,
    id,
    value,
    className: 'field-input',
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': error !== undefined,
    'aria-describedby': `${id}-help ${id}-error`,
  };
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      {isMultiline ? (
        <textarea
          rows={value.split('\n').length}
          dir="auto"
          {...input}
          onChange={({ target }) => onChange(withBreaksOf(value, target.value))}
          onKeyDown={submitOnEnter}
        />
      ) : (
        <input type="text" {...input} onChange={({ target }) => onChange(target.value)} />
      )}
      {description && (
        <p id={`${id}-help`} className="help">
          {description}
        </p>
      )}
      <p id={`${id}-error`} className="field-error" aria-live="polite">
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

/** Enter submits the form, as in a field of one line. Shift+Enter makes a line break. */
function submitOnEnter(event: KeyboardEvent<HTMLTextAreaElement>): void {
  if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
  event.preventDefault();
  event.currentTarget.form?.requestSubmit();
}
