import type { StoredPlant } from '@plant-store/schemas';
import { useState } from 'react';
import { hrefOf } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText, clock, number } from '../../ui/client-text.tsx';
import type { PlantActions } from '../plant-queries.ts';
import styles from './plant-list.module.css';

interface StatusLineProps {
  text: string;
  /** Whether the text is about this list, and not about the list before. */
  isSettled: boolean;
  /** Names the list. A screen reader hears the text when another list or page is shown. */
  list: string;
  /** Tags that begin with the text of the search. */
  tags: readonly string[];
  /** When the store last responded, while it does not respond. */
  lostAt: Date | undefined;
}

/** Says how many plants there are. */
export function StatusLine({ text, isSettled, list, tags, lostAt }: StatusLineProps) {
  const [heard, setHeard] = useState({ list: '', text: '' });
  // Changes by other people are not announced.
  if (isSettled && heard.list !== list) setHeard({ list, text });
  return (
    <div className={styles.line}>
      {lostAt ? (
        <p role="alert" className="warning">
          Connection lost. Shown: {clock.format(lostAt)}. Trying again …
        </p>
      ) : (
        <p>{text}</p>
      )}
      <p role="status" className="visually-hidden">
        {heard.text}
      </p>
      {tags.map((tag) => (
        <LinkButton key={tag} kind="quiet" href={hrefOf({ tag })}>
          Tag <ClientText text={tag.slice(0, 30)} />
        </LinkButton>
      ))}
    </div>
  );
}

interface SelectionLineProps {
  plants: readonly StoredPlant[];
  mayDelete: boolean;
  actions: PlantActions;
  onClear(): void;
}

/** Takes the place of the status line while rows are checked. */
export function SelectionLine({ plants, mayDelete, actions, onClear }: SelectionLineProps) {
  return (
    <section className={styles.line} aria-label="Selected plants">
      <p role="status">
        <strong>{number.format(plants.length)} selected</strong>
      </p>
      <Button icon="download" onClick={() => actions.save(plants)}>
        Export
      </Button>
      {mayDelete && (
        <Button kind="danger-plain" icon="bin" onClick={() => actions.remove(plants)}>
          Delete
        </Button>
      )}
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
    </section>
  );
}
