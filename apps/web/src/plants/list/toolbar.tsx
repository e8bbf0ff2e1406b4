import { maxSearch, readId } from '@plant-store/schemas';
import { type KeyboardEvent, useEffect, useRef } from 'react';
import { useIdentity } from '../../store.tsx';
import { go, hrefOf, type PlantFilter, replaceAddress } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { useListState } from '../plant-state.ts';
import styles from './plant-list.module.css';

/** The search begins when the user has not typed for this number of milliseconds. */
const pause = 250;

/** In these elements, `/` does not focus the search. */
const noShortcut = 'input:not([type=checkbox]), textarea, dialog:modal';

/** The search, the tag that filters the list, and the actions on the list. */
export function Toolbar({ tag, search }: PlantFilter) {
  const { may } = useIdentity();
  const { open } = useListState();
  return (
    <div className="row">
      <SearchField search={search} />
      {tag !== undefined && (
        <span className={styles.chip}>
          <span className="clamp">
            Tag: <ClientText text={tag} />
          </span>
          <LinkButton
            kind="quiet"
            icon="close"
            href={hrefOf({ search })}
            aria-label={`Show plants with any tag, not only ${tag.slice(0, 100)}`}
          />
        </span>
      )}
      <div className={styles.actions}>
        {/* On a phone, these actions are behind a button. */}
        <div id="more" popover="auto" className={`card ${styles.others}`}>
          <Button icon="download" onClick={() => open({ name: 'export' })}>
            Export
          </Button>
          {may('plants:create') && (
            <Button icon="upload" onClick={() => open({ name: 'import' })}>
              Import
            </Button>
          )}
        </div>
        <span className={styles.more}>
          <Button icon="more" aria-label="More" popoverTarget="more" />
        </span>
        {may('plants:create') && (
          <Button kind="primary" icon="add" data-compact onClick={() => open({ name: 'add' })}>
            Add
          </Button>
        )}
      </div>
    </div>
  );
}

function SearchField({ search }: { search: string | undefined }) {
  const input = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  /** The typed text that this field has written to the address. */
  const sent = useRef<string>(undefined);
  const typed = () => input.current?.value.trim() || undefined;
  useEffect(() => {
    // When a link or the Back button has changed the address, the field shows the search of the new address.
    if (input.current && sent.current !== search) input.current.value = search ?? '';
    sent.current = search;
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    const focusBySlash = (event: globalThis.KeyboardEvent) => {
      const { key, ctrlKey, metaKey, altKey, target } = event;
      const isTyping = target instanceof Element && target.closest(noShortcut);
      if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return;
      event.preventDefault();
      input.current?.select();
    };
    addEventListener('keydown', focusBySlash);
    return () => removeEventListener('keydown', focusBySlash);
  }, []);

  const find = () => {
    clearTimeout(timer.current);
    sent.current = typed();
    if (sent.current === search) return;
    // The Back button skips the unfinished texts of a search.
    const show = sent.current === undefined || search === undefined ? go : replaceAddress;
    show({ search: sent.current, after: undefined });
  };
  const onChange = () => {
    clearTimeout(timer.current);
    timer.current = setTimeout(find, typed() === undefined ? 0 : pause);
  };
  const onKeyDown = ({ key, nativeEvent }: KeyboardEvent) => {
    if (key !== 'Enter' || nativeEvent.isComposing) return;
    const id = readId(typed() ?? '').id;
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
