import { type ComponentProps, useState } from 'react';
import { copyText } from './browser.ts';
import styles from './controls.module.css';
import { Icon, type IconName } from './icon.tsx';

interface Look {
  icon?: IconName | undefined;
  kind?: 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-plain' | undefined;
}

/** Without a text, a button is a square with an icon, and needs an `aria-label`. */
export function Button({ icon, kind, children, ...rest }: ComponentProps<'button'> & Look) {
  return (
    <button type="button" className={styles.button} data-kind={kind} {...rest}>
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/**
 * A link that looks like a button. A link without `href` does nothing, but keeps the focus: often, the link
 * gets an `href` again a moment later.
 */
export function LinkButton({ icon, kind, children, ...rest }: ComponentProps<'a'> & Look) {
  const disabled = rest.href === undefined && { 'aria-disabled': true, tabIndex: -1 };
  return (
    <a className={styles.button} data-kind={kind} {...disabled} {...rest}>
      {icon && <Icon name={icon} />}
      {children !== undefined && <span>{children}</span>}
    </a>
  );
}

type CopyButtonProps = Look & { label: string; text: string };

/** Copies a text, such as a link. */
export function CopyButton({ label, text, icon = 'copy' }: CopyButtonProps) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <Button
      icon={isCopied ? 'check' : icon}
      onClick={() => copyText(text).then(() => setIsCopied(true))}
      // The label does not change to "Copied", so that no button beside it moves away from the pointer.
      onBlur={() => setIsCopied(false)}
    >
      {label}
      <span role="status" className="visually-hidden">
        {isCopied && 'Copied'}
      </span>
    </Button>
  );
}
