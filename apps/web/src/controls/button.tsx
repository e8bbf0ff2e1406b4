import type { ComponentProps } from 'react';
import './button.css';

interface ButtonProps extends ComponentProps<'button'> {
  kind?: 'primary' | 'plain' | 'quiet' | 'danger' | 'danger-plain';
}

export function Button({ kind = 'plain', type = 'button', className = '', ...props }: ButtonProps) {
  return <button type={type} className={`button button-${kind} ${className}`} {...props} />;
}
