import { useEffect, useLayoutEffect, useState } from 'react';
import houseplants from '../../../../../examples/houseplants.ndjson?url';
import { explainError, useIdentity } from '../../store.tsx';
import { hrefOf, type PlantFilter, useAddress } from '../../ui/address.ts';
import { savePlants } from '../../ui/browser.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText, clock, countOf, number } from '../../ui/client-text.tsx';
import { useListState } from '../plant-state.ts';
import { type ListPage, useListPage } from './list-page.ts';
import styles from './plant-list.module.css';
import { PlantTable } from './plant-table.tsx';
import seedling from './seedling.svg';
import { Toolbar } from './toolbar.tsx';

/** The list of plants, with the search, the actions, and the links to other pages of the list. */
export function PlantList() {
  const { identity, may } = useIdentity();
  const { checked, added } = useListState();
  const { tag, search, after } = useAddress();
  const list = hrefOf({ tag, search, after });
  const page = useListPage();
  const { plants, tags, isLoaded, isOld, error } = page;
  useLayoutEffect(() => {
    if (!isOld && list) scrollTo(0, 0);
  }, [list, isOld]);

  if (!may('plants:read')) {
    return (
      <NoPlants
        title="You cannot see the plants"
        text={`Your access token “${identity?.name}” may not read plants. Ask the person who gave you the token.`}
      />
    );
  }
  const isEmpty = isLoaded && !isOld && plants.length === 0 && added.length === 0;
  const isStoreEmpty = isEmpty && list === hrefOf({});
  return (
    <>
      <div className={styles.top}>
        <Toolbar tag={tag} search={search} />
        {checked.size > 0 ? <SelectionLine /> : <StatusLine page={page} list={list} />}
      </div>
      <div className="card">
        {isStoreEmpty && <NoPlants title="No plants yet" />}
        {isEmpty && !isStoreEmpty && <NoMatch tag={tag} search={search} tags={tags} />}
        {!isEmpty && isLoaded && <PlantTable plants={plants} list={list} isOld={isOld} />}
        {!isLoaded && (
          <p className={`page ${styles.message}`} role="status">
            {error ? `The plants cannot be shown. ${explainError(error)}` : 'Loading …'}
          </p>
        )}
      </div>
      <Pager next={page.next} />
    </>
  );
}

/** Says how many plants there are, and offers tags that begin with the text of a search. */
function StatusLine({ page, list }: { page: ListPage; list: string }) {
  const { isLoaded, isOld, lostAt, plants, tags } = page;
  const text = isLoaded ? statusText(page) : '';
  const [heard, setHeard] = useState({ list: '', text: '' });
  // A screen reader announces the text of a new list, but not the changes by other people.
  const isFinal = isLoaded && !isOld && !text.endsWith('…');
  if (isFinal && heard.list !== list) setHeard({ list, text });
  return (
    <div className={styles.line}>
      {lostAt ? (
        <p role="alert" className="warning">
          Connection lost. Loaded at {clock.format(lostAt)}. Trying again …
        </p>
      ) : (
        <p>{text}</p>
      )}
      <p role="status" className="visually-hidden">
        {heard.text}
      </p>
      {plants.length > 0 &&
        tags.map((tag) => (
          <LinkButton key={tag} kind="quiet" href={hrefOf({ tag })}>
            Tag <ClientText text={tag.slice(0, 30)} />
          </LinkButton>
        ))}
    </div>
  );
}

function statusText({ plants, next, count, isSearch, isOld }: ListPage): string {
  if (!isSearch) return count ? countOf(count.count, count.isExact) : 'Counting …';
  if (isOld) return 'Searching …';
  return number.format(plants.length) + (next === undefined ? ' found' : ' shown, more follow');
}

/** Replaces the number of plants while rows are checked. */
function SelectionLine() {
  const { may } = useIdentity();
  const { checked, change, open } = useListState();
  const plants = [...checked.values()];
  return (
    <section className={styles.line} aria-label="Selected plants">
      <p role="status">
        <strong>{number.format(plants.length)} selected</strong>
      </p>
      <Button icon="download" onClick={() => savePlants(plants)}>
        Export
      </Button>
      {may('plants:delete') && (
        <Button kind="danger-plain" icon="bin" onClick={() => open({ name: 'delete', plants })}>
          Delete
        </Button>
      )}
      <Button kind="quiet" onClick={() => change({ checked: new Map() })}>
        Clear
      </Button>
    </section>
  );
}

/** Maps the link of each page to the link of the previous page. */
const linksBefore = new Map<string, string>();

/** Links to other pages of the list. `Previous` works only after the user has opened the previous page. */
function Pager({ next }: { next: string | undefined }) {
  const { tag, search, after } = useAddress();
  const linkTo = (place: string | undefined) => hrefOf({ tag, search, after: place });
  const here = linkTo(after);
  const nextLink = next && linkTo(next);
  useEffect(() => {
    if (nextLink) linksBefore.set(nextLink, here);
  }, [nextLink, here]);
  return (
    <nav className={styles.pager} aria-label="Pages" hidden={!after && !nextLink}>
      <LinkButton icon="first" href={after && linkTo(undefined)}>
        First
      </LinkButton>
      <LinkButton icon="previous" href={linksBefore.get(here)}>
        Previous
      </LinkButton>
      <LinkButton icon="next" href={nextLink}>
        Next
      </LinkButton>
    </nav>
  );
}

/** Says that no plant matches the search or the tag, or that a link is to a page after the last page. */
function NoMatch({ tag, search, tags }: PlantFilter & { tags: readonly string[] }) {
  const text = search ?? tag;
  const reason = search === undefined ? 'No plant has the tag' : 'No plant matches';
  return (
    <div className={`page ${styles.message}`}>
      {text === undefined ? (
        <h2>There are no further plants</h2>
      ) : (
        <h2>
          {reason} ‘<ClientText text={text} />’
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
    </div>
  );
}

/** Says that there are no plants to see, and offers ways to add plants. */
function NoPlants({ title, text }: { title: string; text?: string }) {
  const { may } = useIdentity();
  const { open } = useListState();
  const importSample = async () => {
    const response = await fetch(houseplants);
    const file = new File([await response.blob()], 'houseplants.ndjson');
    open({ name: 'import', file });
  };
  return (
    <div className={`page ${styles.message}`}>
      <img src={seedling} alt="" width="120" height="120" />
      <h2>{title}</h2>
      {text && <p>{text}</p>}
      {may('plants:create') && (
        <div className="row">
          <Button kind="primary" icon="add" onClick={() => open({ name: 'add' })}>
            Add a plant
          </Button>
          <Button icon="upload" onClick={() => open({ name: 'import' })}>
            Import a file
          </Button>
        </div>
      )}
      {may('plants:create') && may('plants:read') && (
        <Button kind="quiet" onClick={importSample}>
          Or try the store with 208 houseplants
        </Button>
      )}
    </div>
  );
}
