import { IdFromText } from '@plant-store/schemas';
import { explainIdText } from '@plant-store/schemas/plain';
import { useQueryClient } from '@tanstack/react-query';
import { type ClipboardEvent, type KeyboardEvent, useEffect, useId, useState } from 'react';
import { go } from '../../address/use-address.ts';
import { Icon } from '../../controls/icon.tsx';
import { useTRPC } from '../../store/trpc.ts';
import { inOneLine, PlantText } from '../plant-text.tsx';
import './find-field.css';

/** The greatest number of suggestions. */
const limit = 8;

/** The greatest number of tags that the page remembers. */
const keptTags = 1_000;

type Suggestion = { readonly id: bigint } | { readonly tag: string };

/** Finds a place in the table by an id, or plants by a tag. */
export function FindField() {
  const listId = useId();
  const seenTags = useSeenTags();
  const [text, setText] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(0);

  const suggestions = isOpen ? suggest(text, seenTags()) : [];
  const change = (value: string) => {
    setText(value);
    setActive(0);
    setIsOpen(true);
  };
  const choose = (suggestion: Suggestion | undefined) => {
    if (!suggestion) return;
    if ('id' in suggestion) go({ at: suggestion.id });
    else go({ tag: suggestion.tag, at: undefined });
    setText('');
    setIsOpen(false);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const count = suggestions.length || 1;
    const actions: Record<string, () => void> = {
      ArrowDown: () => (isOpen ? setActive((active + 1) % count) : setIsOpen(true)),
      ArrowUp: () => setActive((active + count - 1) % count),
      Enter: () => choose(suggestions[active]),
      Escape: () => (isOpen ? setIsOpen(false) : change('')),
    };
    const action = event.nativeEvent.isComposing ? undefined : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  // The browser would remove line breaks from a pasted text. A cell from a spreadsheet ends with an extra
  // line break.
  const onPaste = (event: ClipboardEvent<HTMLInputElement>) => {
    const copied = event.clipboardData.getData('text');
    if (inOneLine(copied) === copied) return;
    event.preventDefault();
    const line = inOneLine(withoutLastBreaks(copied));
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    change(value.slice(0, selectionStart ?? 0) + line + value.slice(selectionEnd ?? 0));
  };
  const hint =
    idHint(text.trim()) ?? (text.includes('↵') ? '↵ stands for a line break.' : undefined);
  return (
    <search className="find">
      <Icon name="find" />
      <input
        className="field-input"
        type="text"
        role="combobox"
        aria-label="Find an id or a tag"
        placeholder="Id or tag"
        autoComplete="off"
        spellCheck={false}
        aria-expanded={suggestions.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={suggestions.length > 0 ? `${listId}-${active}` : undefined}
        value={text}
        onChange={({ target }) => change(target.value)}
        onFocus={() => setIsOpen(true)}
        onBlur={() => setIsOpen(false)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className="find-list" hidden={suggestions.length === 0}>
        <div id={listId} role="listbox" aria-label="Suggestions">
          {suggestions.map((suggestion, i) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus, and handles the keys.
            <div
              key={'id' in suggestion ? 'id' : `tag ${suggestion.tag}`}
              id={`${listId}-${i}`}
              role="option"
              tabIndex={-1}
              aria-selected={i === active}
              // The field keeps the focus.
              onPointerDown={(event) => event.preventDefault()}
              onClick={() => choose(suggestion)}
            >
              {'id' in suggestion ? (
                `Go to id ${suggestion.id}`
              ) : (
                <>
                  Tag “<PlantText text={suggestion.tag} />”
                </>
              )}
            </div>
          ))}
        </div>
        {hint && <p className="find-hint">{hint}</p>}
      </div>
    </search>
  );
}

/** Suggests the text as an id first, then tags of loaded plants, and then the text as a tag. */
function suggest(text: string, seen: readonly string[]): readonly Suggestion[] {
  const { data: id } = IdFromText.safeParse(text.trim());
  const lower = text.toLowerCase();
  const typed = text.replaceAll(/ ?↵ ?/g, '\n');
  const similar = seen
    .filter((tag) => tag !== typed && inOneLine(tag).toLowerCase().includes(lower))
    .toSorted((a, b) => Number(startsWith(b, lower)) - Number(startsWith(a, lower)));
  const isSeen = seen.includes(typed);
  const tags = [...(isSeen ? [typed] : []), ...similar.slice(0, limit)];
  if (typed !== '' && !isSeen) tags.push(typed);
  return [...(id === undefined ? [] : [{ id }]), ...tags.map((tag) => ({ tag }))];
}

function startsWith(tag: string, start: string): boolean {
  return inOneLine(tag).toLowerCase().startsWith(start);
}

function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (/[\r\n]/.test(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Says why a number is not an id. */
function idHint(text: string): string | undefined {
  const why = /^[+-]?\d+$/.test(text) ? explainIdText(text) : undefined;
  return why && `Not an id: an id ${why}.`;
}

/** Returns the tags of all rows that this page has loaded, with the newest tag first. */
function useSeenTags(): () => readonly string[] {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [seen] = useState(() => new Set<string>());
  useEffect(() => {
    const { queryKey } = trpc.listPlants.queryFilter();
    const [path] = queryKey ?? [];
    return queryClient.getQueryCache().subscribe(({ type, query }) => {
      if (type !== 'updated' || String(query.queryKey[0]) !== String(path)) return;
      const page: { plants: { tag?: string }[] } | undefined = query.state.data;
      for (const { tag } of page?.plants ?? []) {
        if (tag !== undefined && seen.size < keptTags) seen.add(tag);
      }
    });
  }, [queryClient, trpc, seen]);
  return () => [...seen].reverse();
}
