import { type ComponentProps, useId } from 'react';
import './text-field.css';

interface TextFieldProps extends Omit<ComponentProps<'input'>, 'onChange'> {
  label: string;
  value: string;
  onChange(value: string): void;
  /** Explains which values the field takes. */
  description?: string | undefined;
  /** Says what is wrong with the value. */
  error?: string | undefined;
}

/** A text input with its label, its description and its error. */
export function TextField({ label, onChange, description, error, ...input }: TextFieldProps) {
  const id = useId();
  return (
    <div className="field">
      <label className="field-label" htmlFor={id}>
        {label}
      </label>
      <input
        className="field-input"
        type="text"
        autoComplete="off"
        spellCheck={false}
        {...input}
        id={id}
        aria-invalid={error !== undefined}
        aria-describedby={`${id}-help ${id}-error`}
        onChange={({ target }) => onChange(target.value)}
      />
      {description && (
        <p id={`${id}-help`} className="field-help">
          {description}
        </p>
      )}
      <p id={`${id}-error`} className="field-error" aria-live="polite">
        {error}
      </p>
    </div>
  );
}
