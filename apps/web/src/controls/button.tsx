import { type ComponentProps, useState } from 'react';
import './button.css';
import { Icon } from './icon.tsx';

interface ButtonProps extends ComponentProps<'button'> {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-plain' | 'progress';
}

export function Button({ kind = 'plain', type = 'button', className = '', ...props }: ButtonProps) {
  return <button type={type} className={`button button-${kind} ${className}`} {...props} />;
}

interface CopyButtonProps {
  /** The name of the text to copy, such as "curl". */
  what: string;
  text: string;
}

/** Copies a text. Browsers allow copying only on secure origins, so other pages have no button. */
export function CopyButton({ what, text }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  if (!navigator.clipboard) return null;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setIsCopied(true);
  };
  return (
    <Button className="copy-button" onClick={copy} onBlur={() => setIsCopied(false)}>
      <Icon name="copy" />
      <span aria-live="polite">{isCopied ? 'Copied' : `Copy ${what}`}</span>
    </Button>
  );
}
