import type { StoredPlant } from '@plant-store/schemas';
import { hrefOf } from '../ui/address.ts';
import { CopyButton } from '../ui/button.tsx';
import { ClientText, maxShown, shortTime } from '../ui/client-text.tsx';
import styles from './plant-text.module.css';

interface TagLinkProps {
  tag: string;
  /** Whether to show a long tag in full. A list cuts long tags off. */
  isWhole?: boolean;
}

/** Shows a tag as a link to the plants with exactly this tag. */
export function TagLink({ tag, isWhole = false }: TagLinkProps) {
  return (
    <a className={styles.tag} data-whole={isWhole || undefined} href={hrefOf({ tag })}>
      <ClientText text={tag} isWhole={isWhole} />
    </a>
  );
}

export function Time({ at }: { at: Date }) {
  return <time dateTime={at.toISOString()}>{shortTime.format(at)}</time>;
}

/** Shows the name and the tag of a plant in one sentence. */
export function PlantInLine({ name, tag }: Pick<StoredPlant, 'name' | 'tag'>) {
  return (
    <>
      <ClientText text={name.slice(0, 200)} />
      {tag !== undefined && ', tag '}
      {tag !== undefined && <ClientText text={tag.slice(0, 200)} />}
    </>
  );
}

/** Shows all that the store knows about a plant. A replaced plant has the time of the replacement. */
export function PlantFacts({ plant }: { plant: StoredPlant }) {
  const { id, name, tag, createdAt, updatedAt } = plant;
  return (
    <dl className={styles.facts}>
      <dt>Name</dt>
      <dd>
        <ClientText text={name} isWhole />
        {name.length > maxShown && <CopyButton label="Copy the whole name" text={name} />}
      </dd>
      <dt>Tag</dt>
      <dd>{tag === undefined ? <em>none</em> : <TagLink tag={tag} isWhole />}</dd>
      <dt>Number</dt>
      <dd>
        <code>{String(id)}</code>
      </dd>
      <dt>Created</dt>
      <dd>
        <Time at={createdAt} />
      </dd>
      {updatedAt && <dt>Corrected</dt>}
      {updatedAt && (
        <dd>
          <Time at={updatedAt} />
        </dd>
      )}
    </dl>
  );
}
