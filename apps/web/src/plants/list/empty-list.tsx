import type { Permissions } from '../../store/store.tsx';
import { type Address, hrefOf } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import type { PlantActions } from '../plant-queries.ts';
import styles from './plant-list.module.css';

/** Says that no plant matches the search or the tag, or that a link is to a page behind the last one. */
export function NoMatch({ tag, search, tags }: Address & { tags: readonly string[] }) {
  const [text, reason] =
    search === undefined ? [tag, 'No plant has the tag'] : [search, 'No plant matches'];
  return (
    <div className={styles.message}>
      <h2>
        {text === undefined ? 'There are no further plants' : `${reason} ‘`}
        {text !== undefined && <ClientText text={text} />}
        {text !== undefined && '’'}
      </h2>
      <div className="row">
        {search !== undefined && (
          <LinkButton kind="primary" href={hrefOf({ tag })}>
            Clear search
          </LinkButton>
        )}
        {tag !== undefined && <LinkButton href={hrefOf({ search })}>Any tag</LinkButton>}
        {tags.map((each) => (
          <LinkButton key={each} href={hrefOf({ tag: each })}>
            Plants with the tag <ClientText text={each} />
          </LinkButton>
        ))}
      </div>
    </div>
  );
}

interface EmptyListProps {
  title: string;
  text?: string;
  may: Permissions;
  actions: PlantActions;
}

/** A list without plants, and the ways to add some. */
export function EmptyList({ title, text, may, actions }: EmptyListProps) {
  return (
    <div className={styles.message}>
      <Seedling />
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {may.create && (
        <div className="row">
          <Button kind="primary" icon="add" onClick={() => actions.add()}>
            Add a plant
          </Button>
          <Button icon="upload" onClick={actions.importFile}>
            Import a file
          </Button>
        </div>
      )}
      {may.create && may.read && (
        <Button kind="quiet" onClick={actions.importSample}>
          Or try it with 208 houseplants
        </Button>
      )}
    </div>
  );
}

function Seedling() {
  return (
    <svg aria-hidden="true" viewBox="0 0 120 120" width="120" height="120">
      <ellipse cx="60" cy="110" rx="34" ry="5" fill="var(--faint-line)" />
      <path d="M58 76V44h4v32z" fill="var(--accent)" />
      <path d="M60 52C58 30 42 22 24 22c0 20 12 32 36 30z" fill="var(--accent)" />
      <path d="M60 44c0-18 12-28 32-30 2 20-10 32-32 30z" fill="var(--accent)" />
      <path d="M34 76h52l-6 32a4 4 0 0 1-4 3H44a4 4 0 0 1-4-3z" fill="var(--pot)" />
      <path d="M30 70h60v10H30z" fill="var(--pot-rim)" />
    </svg>
  );
}
