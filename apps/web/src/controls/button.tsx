import { type ComponentProps, useState } from 'react';
import './button.css';
import { Icon } from './icon.tsx';

interface ButtonProps extends ComponentProps<'button'> {
  icon?: ComponentProps<typeof Icon>['name'];
  kind?: 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-plain' | 'progress';
}

export function Button(props: ButtonProps) {
  const { kind = 'plain', type = 'button', className = '', icon, children, ...rest } = props;
  const shape = children === undefined ? 'icon-button' : '';
  return (
    <button type={type} className={`button button-${kind} ${shape} ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface CopyButtonProps {
  /** The name of the text to copy, such as "curl". */
  what: string;
  text: string;
}

/** Copies a text. */
export function CopyButton({ what, text }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    // On plain HTTP, browsers have no `navigator.clipboard`, so the console copies a selected text.
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copySelected(text);
    setIsCopied(true);
  };
  return (
    <Button className="copy-button" onClick={copy} onBlur={() => setIsCopied(false)} icon="copy">
      <span aria-live="polite">{isCopied ? 'Copied' : `Copy ${what}`}</span>
    </Button>
  );
}

function copySelected(text: string): void {
  const area = document.createElement('textarea');
  area.value = text;
  // While a dialog is open, only texts in the dialog can be selected.
  const focused = document.activeElement;
  (focused?.closest('dialog') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
}
