import { type ComponentProps, type ReactNode, useState } from 'react';
import styles from './button.module.css';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  icon?: IconName | undefined;
  kind?: 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-plain' | undefined;
  /** Shows only the icon when the screen is narrow. Screen readers still read the text. */
  isCompact?: boolean | undefined;
  children?: ReactNode;
}

/** Without a text, a control is a square with an icon, and needs an `aria-label`. */
function look({ icon, kind = 'plain', isCompact, children }: Look) {
  const shape = children === undefined ? styles.square : isCompact ? styles.compact : '';
  const content = (
    <>
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </>
  );
  return { className: `${styles.button} ${styles[kind]} ${shape}`, children: content };
}

export function Button({
  icon,
  kind,
  isCompact,
  children,
  ...rest
}: ComponentProps<'button'> & Look) {
  return <button type="button" {...rest} {...look({ icon, kind, isCompact, children })} />;
}

/** A link that looks like a button. Without `href`, it is there, but does nothing. */
export function LinkButton({
  icon,
  kind,
  isCompact,
  children,
  ...rest
}: ComponentProps<'a'> & Look) {
  const isDisabled = rest.href === undefined || undefined;
  return <a {...rest} aria-disabled={isDisabled} {...look({ icon, kind, isCompact, children })} />;
}

interface CopyButtonProps {
  label: string;
  text: string;
  icon?: IconName;
}

/** Copies a text, such as a link. */
export function CopyButton({ label, text, icon = 'copy' }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setIsCopied(true);
  };
  return (
    <Button
      icon={isCopied ? 'check' : icon}
      onClick={copy}
      // The label keeps its width, so that no button beside it moves away from the pointer.
      onBlur={() => setIsCopied(false)}
    >
      {label}
      <span role="status" className="visually-hidden">
        {isCopied && 'Copied'}
      </span>
    </Button>
  );
}

/** On plain HTTP, browsers have no `navigator.clipboard`. The browser then copies a selected text. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  // While a dialog is open, the user can only select texts in the dialog.
  const focused = document.activeElement;
  (focused?.closest('dialog') ?? document.body).append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
}
