import type { ReactNode } from 'react';
import houseplants from '../../../../../examples/houseplants.ndjson?url';
import { useIdentity } from '../../store/store.tsx';
import { hrefOf, type PlantFilter } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import { useListState } from '../plant-state.ts';
import styles from './plant-list.module.css';
import seedling from './seedling.svg';

/** Stands in place of the table. */
export function Message({ children }: { children: ReactNode }) {
  return <div className={styles.message}>{children}</div>;
}

/** Says that no plant matches the search or the tag, or that a link is to a page behind the last one. */
export function NoMatch({ tag, search, tags }: PlantFilter & { tags: readonly string[] }) {
  const text = search ?? tag;
  return (
    <Message>
      {text === undefined ? (
        <h2>There are no further plants</h2>
      ) : (
        <h2>
          {search === undefined ? 'No plant has the tag' : 'No plant matches'} ‘
          <ClientText text={text} />’
        </h2>
      )}
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
    </Message>
  );
}

/** Says that there is no plant to see, and offers the ways to add some. */
export function NoPlants({ title, children }: { title: string; children?: ReactNode }) {
  const { may } = useIdentity();
  const { change } = useListState();
  const importFile = (file?: File) => change({ dialog: { name: 'import', ...(file && { file }) } });
  const importSample = async () => {
    const response = await fetch(houseplants);
    importFile(new File([await response.blob()], 'houseplants.ndjson'));
  };
  return (
    <Message>
      <img src={seedling} alt="" width="120" height="120" />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {may('plants:create') && (
        <div className="row">
          <Button kind="primary" icon="add" onClick={() => change({ dialog: { name: 'add' } })}>
            Add a plant
          </Button>
          <Button icon="upload" onClick={() => importFile()}>
            Import a file
          </Button>
        </div>
      )}
      {may('plants:create') && may('plants:read') && (
        <Button kind="quiet" onClick={importSample}>
          Or try it with 208 houseplants
        </Button>
      )}
    </Message>
  );
}
