import { Field } from '@base-ui/react/field';
import type { HTMLInputAutoCompleteAttribute, Ref } from 'react';
import './text-field.css';

interface TextFieldProps {
  label: string;
  value: string;
  onChange(value: string): void;
  /** Says what belongs into the field. */
  description?: string;
  /** Says what is wrong with the value. */
  error?: string | undefined;
  type?: 'text' | 'password' | 'search';
  inputMode?: 'numeric';
  placeholder?: string;
  autoComplete?: HTMLInputAutoCompleteAttribute;
  autoFocus?: boolean;
  required?: boolean;
  onBlur?(): void;
  inputRef?: Ref<HTMLInputElement>;
}

/** A text input with its label, its description and its error. */
export function TextField(props: TextFieldProps) {
  const { label, description, error, onChange, inputRef, ...input } = props;
  return (
    <Field.Root className="field" invalid={error !== undefined}>
      <Field.Label className="field-label">{label}</Field.Label>
      <Field.Control
        className="field-input"
        type="text"
        autoComplete="off"
        spellCheck={false}
        {...input}
        {...(inputRef && { ref: inputRef })}
        onValueChange={onChange}
      />
      {description && <Field.Description className="field-help">{description}</Field.Description>}
      <Field.Error className="field-error" match={error !== undefined}>
        {error}
      </Field.Error>
    </Field.Root>
  );
}
