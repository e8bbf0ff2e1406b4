import { maxSearch, readIdText } from '@plant-store/schemas';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { go, replaceAddress } from '../../ui/address.ts';
import { Icon } from '../../ui/icon.tsx';
import styles from './plant-list.module.css';

/** The search begins when the user has not typed for this number of milliseconds. */
const pause = 250;

/** Finds plants while the user types a part of a name, a number or a tag. */
export function SearchField({ search }: { search: string | undefined }) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** The text that the address has because the user has typed it. */
  const sent = useRef<string>(undefined);
  const typed = () => input.current?.value.trim() || undefined;
  useEffect(() => {
    // When a link or the Back button has changed the address, the field shows its text.
    if (input.current && sent.current !== search) input.current.value = search ?? '';
    sent.current = search;
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useFocusBySlash(input);

  const find = () => {
    clearTimeout(timer.current);
    sent.current = typed();
    if (sent.current === search) return;
    // While the user types, the Back button skips the texts between.
    const show = sent.current === undefined || search === undefined ? go : replaceAddress;
    show({ search: sent.current, after: undefined });
  };
  const onChange = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(find, typed() === undefined ? 0 : pause);
  };
  const onKeyDown = ({ key, nativeEvent }: KeyboardEvent) => {
    if (key !== 'Enter' || nativeEvent.isComposing) return;
    const id = readIdText(typed() ?? '');
    if (id === undefined) find();
    else go({ plant: id });
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
        onChange={onChange}
        onKeyDown={onKeyDown}
      />
    </search>
  );
}

/** Focuses the field when the user presses `/` outside a text field. */
function useFocusBySlash(input: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const isTyping =
        target instanceof Element && target.closest('input:not([type=checkbox]), textarea');
      if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return;
      if (document.querySelector('dialog:modal')) return;
      event.preventDefault();
      input.current?.select();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [input]);
}
