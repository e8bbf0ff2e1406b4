import { useState } from 'react';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface CopyButtonProps {
  /** The kind of text, as the button names it: "curl". */
  what: string;
  text: string;
}

/** Copies a text. Browsers allow that only on secure origins; elsewhere there is no button. */
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
