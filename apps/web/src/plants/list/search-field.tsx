import { maxSearch, readIdText } from '@plant-store/schemas/plain';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { go, replaceAddress } from '../../ui/address.ts';
import { Icon } from '../../ui/icon.tsx';
import styles from './toolbar.module.css';

/** The search begins when the user has not typed for this number of milliseconds. */
const pause = 250;

/** Finds plants while the user types a part of a name, a number or a tag. */
export function SearchField({ search }: { search: string | undefined }) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const [text, setText] = useState(search ?? '');
  const [shown, setShown] = useState(search);
  if (shown !== search) {
    setShown(search);
    // When a link or the Back button has changed the address, the field shows its text.
    if (search !== searchOf(text)) setText(search ?? '');
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  useFocusBySlash(input);

  const find = (next: string | undefined) => {
    clearTimeout(timer.current);
    if (next === search) return;
    // While the user types, the Back button skips the texts between.
    const show = next === undefined || search === undefined ? go : replaceAddress;
    show({ search: next, after: undefined });
  };
  const change = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => find(searchOf(value)), value === '' ? 0 : pause);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') {
      const id = readIdText(text.trim());
      if (id === undefined) find(searchOf(text));
      else go({ plant: id });
    }
    if (event.key === 'Escape' && text !== '') {
      event.preventDefault();
      setText('');
      find(undefined);
    }
  };
  return (
    <search className={styles.search}>
      <Icon name="find" />
      <input
        ref={input}
        className="input"
        type="search"
        aria-label="Find plants"
        aria-keyshortcuts="/"
        placeholder="Name, number or tag"
        autoComplete="off"
        spellCheck={false}
        maxLength={maxSearch}
        value={text}
        onChange={({ target }) => change(target.value)}
        onKeyDown={onKeyDown}
      />
    </search>
  );
}

function searchOf(text: string): string | undefined {
  return text.trim() || undefined;
}

/** Focuses the field when the user presses `/` outside a text field. */
function useFocusBySlash(input: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const isTyping =
        target instanceof Element && target.closest('input:not([type=checkbox]), textarea');
      if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return;
      if (document.querySelector('dialog[open]')) return;
      event.preventDefault();
      input.current?.select();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [input]);
}
