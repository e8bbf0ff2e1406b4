import { explainIdText, maxSearch, readIdText } from '@plant-store/schemas/plain';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { go, replace, useAddress } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { Icon } from '../../controls/icon.tsx';
import { inOneLine, PlantText } from '../plant-text.tsx';
import './find-field.css';
import { useSeenTags } from './use-seen-tags.ts';

/** The field suggests at most this number of tags, besides the typed tag. */
const limit = 4;

/** The search begins when the user has not typed for this number of milliseconds. */
const pause = 200;

interface FindFieldProps {
  /** Runs when the user chooses an id. */
  onFindId(id: bigint): void;
  /** Runs when the user presses Enter, if the list already shows the plants that match the typed text. */
  onOpenFirst(): void;
}

/** While the user types, finds plants by a part of their names, and suggests ids and tags. */
export function FindField({ onFindId, onOpenFirst }: FindFieldProps) {
  const { search } = useAddress();
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const seenTags = useSeenTags();
  const [text, setText] = useState(inOneLine(search ?? ''));
  const [lastSearch, setLastSearch] = useState(search);
  if (lastSearch !== search) {
    setLastSearch(search);
    // When the Back button or a link has changed the address, the field shows the text of the address.
    if (search !== searchIn(text)) setText(inOneLine(search ?? ''));
  }
  useEffect(() => () => clearTimeout(timer.current), []);
  useFocusBySlash(input);

  const find = (next: string | undefined) => {
    clearTimeout(timer.current);
    if (next === search) return;
    const show = next === undefined || search === undefined ? go : replace;
    show({ search: next, at: undefined });
  };
  const change = (value: string) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => find(searchIn(value)), pause);
  };
  const choose = (show: () => void) => {
    clearTimeout(timer.current);
    setText('');
    show();
  };
  const trimmed = text.trim();
  const id = readIdText(trimmed);
  const onKeyDown = (event: KeyboardEvent) => {
    const actions: Record<string, () => void> = {
      Enter() {
        const typed = isNumber(trimmed) ? trimmed : searchIn(text);
        if (id !== undefined) choose(() => onFindId(id));
        else if (typed !== search) find(typed);
        else if (search !== undefined) onOpenFirst();
      },
      Escape: () => choose(() => find(undefined)),
      ArrowDown: () => document.querySelector<HTMLElement>('[role=grid]')?.focus(),
    };
    const action = event.nativeEvent.isComposing ? undefined : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  // By default, the browser removes line breaks from a pasted text. A pasted cell of a spreadsheet ends with
  // an extra line break.
  const onPaste = (event: ClipboardEvent<HTMLInputElement>) => {
    const copied = event.clipboardData.getData('text');
    if (inOneLine(copied) === copied) return;
    event.preventDefault();
    const line = inOneLine(withoutLastBreaks(copied));
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    change(value.slice(0, selectionStart ?? 0) + line + value.slice(selectionEnd ?? 0));
  };
  const hint = hintFor(trimmed);
  return (
    <>
      <search className="find">
        <Icon name="find" />
        <input
          ref={input}
          className="field-input"
          type="search"
          aria-label="Find plants"
          aria-keyshortcuts="/"
          placeholder="Name, id or tag"
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={({ target }) => change(target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
      </search>
      {trimmed !== '' && (
        <section className="find-offers" aria-label="Suggestions">
          {id !== undefined && (
            <Button onClick={() => choose(() => onFindId(id))}>Go to id {String(id)}</Button>
          )}
          {isNumber(trimmed) && search !== trimmed && (
            <Button onClick={() => find(trimmed)}>Names with “{trimmed}”</Button>
          )}
          {similarTags(text, seenTags()).map((tag) => (
            <Button key={tag} className="tag-offer" onClick={() => choose(() => findTag(tag))}>
              <span>
                Tag “<PlantText text={tag} />”
              </span>
            </Button>
          ))}
          {hint && <p className="help">{hint}</p>}
        </section>
      )}
    </>
  );
}

function findTag(tag: string): void {
  go({ tag, search: undefined, at: undefined });
}

/** Returns the text to search for, or undefined for a number, because a number may be an id. */
function searchIn(text: string): string | undefined {
  const trimmed = text.trim();
  const isSearch = trimmed !== '' && !isNumber(trimmed) && trimmed.length <= maxSearch;
  return isSearch ? withBreaks(trimmed) : undefined;
}

function isNumber(text: string): boolean {
  return /^[+-]?\d+$/.test(text);
}

/**
 * Returns loaded tags that contain the typed text, and the typed text itself. If the typed text is a loaded
 * tag, the typed text is the first result. Otherwise, the typed text is the last result.
 */
function similarTags(text: string, seen: readonly string[]): readonly string[] {
  const typed = withBreaks(text);
  const start = text.toLowerCase();
  const place = (tag: string) => inOneLine(tag).toLowerCase().indexOf(start);
  const similar = seen
    .filter((tag) => tag !== typed && place(tag) >= 0)
    .toSorted((a, b) => Number(place(a) > 0) - Number(place(b) > 0));
  const others = similar.slice(0, limit);
  return seen.includes(typed) ? [typed, ...others] : [...others, typed];
}

function withBreaks(text: string): string {
  return text.replaceAll(/ ?↵ ?/g, '\n');
}

function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (/[\r\n]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

function hintFor(text: string): string | undefined {
  const why = isNumber(text) ? explainIdText(text) : undefined;
  if (why) return `Not an id: an id ${why}.`;
  if (text.length > maxSearch) return `A search for names has at most ${maxSearch} characters.`;
  return text.includes('↵') ? '↵ stands for a line break.' : undefined;
}

/** Focuses the find field when the user presses `/` outside a text field. */
function useFocusBySlash(input: { readonly current: HTMLInputElement | null }): void {
  useEffect(() => {
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const isTyping = (target as Element).closest('input:not([type=checkbox]), textarea');
      if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return;
      if (document.querySelector('dialog:modal')) return;
      event.preventDefault();
      input.current?.focus();
      input.current?.select();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [input]);
}
