import { useState } from 'react';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';

interface CopyButtonProps {
  /** What the text is, for people who hear the page: "curl". */
  what: string;
  text: string;
}

/** Copies a text. A browser offers that only on secure addresses: on others, select the text. */
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
