import type { StoredPlant } from '@plant-store/schemas';
import { Fragment, type ReactNode } from 'react';
import { hrefOf } from '../ui/address.ts';
import { CopyButton } from '../ui/button.tsx';
import { ClientText, maxShown, shortTime } from '../ui/client-text.tsx';
import styles from './plant-text.module.css';

/** Shows a tag as a link to the plants with exactly this tag. A list cuts long tags off. */
export function TagLink({ tag, isWhole = false }: { tag: string; isWhole?: boolean }) {
  return (
    <a className={styles.tag} data-whole={isWhole || undefined} href={hrefOf({ tag })}>
      <ClientText text={tag} isWhole={isWhole} />
    </a>
  );
}

export function Time({ at }: { at: Date }) {
  return <time dateTime={at.toISOString()}>{shortTime.format(at)}</time>;
}

/** Shows all fields of a plant. A replaced plant has the time of the last replacement. */
export function PlantFacts({ plant }: { plant: StoredPlant }) {
  const { id, name, tag, createdAt, updatedAt } = plant;
  const facts: Readonly<Record<string, ReactNode>> = {
    Name: <ClientText text={name} isWhole />,
    ...(name.length > maxShown && { '': <CopyButton label="Copy the whole name" text={name} /> }),
    Tag: tag === undefined ? <em>none</em> : <TagLink tag={tag} isWhole />,
    Number: <code>{String(id)}</code>,
    Created: <Time at={createdAt} />,
    ...(updatedAt && { Corrected: <Time at={updatedAt} /> }),
  };
  return (
    <dl className={styles.facts}>
      {Object.entries(facts).map(([term, value]) => (
        <Fragment key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
