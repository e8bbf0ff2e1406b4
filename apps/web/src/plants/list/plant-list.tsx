import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { explainError } from '../../store/errors.tsx';
import { useIdentity } from '../../store/store.tsx';
import { type Address, hrefOf, useAddress } from '../../ui/address.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { ClientText, clock, countOf, number } from '../../ui/client-text.tsx';
import { savePlants } from '../plant-file.ts';
import { useListState } from '../plant-state.ts';
import { useListPage } from './list-page.ts';
import { Message, NoMatch, NoPlants } from './messages.tsx';
import styles from './plant-list.module.css';
import { PlantTable } from './plant-table.tsx';
import { Toolbar } from './toolbar.tsx';

/** The list of plants with its search, its actions and its pages. */
export function PlantList() {
  const { identity, may } = useIdentity();
  const { checked, added } = useListState();
  const address = useAddress();
  const { tag, search, after, plant } = address;
  const isPaused = checked.size > 0 || plant !== undefined;
  const page = useListPage(address, { isPaused, isEnabled: may('plants:read') });
  const { plants, tags, isLoaded, isOld, error } = page;

  const list = hrefOf({ tag, search, after });
  const scroller = useRef<HTMLDivElement>(null);
  // Another page begins at its top.
  useLayoutEffect(() => {
    if (!isOld && list) scroller.current?.scrollTo(0, 0);
  }, [list, isOld]);

  if (!may('plants:read')) {
    return (
      <NoPlants title="You cannot see the plants">
        Your access token “{identity?.name}” may not read plants. Ask the person who gave it to you.
      </NoPlants>
    );
  }
  const isEmpty = isLoaded && !isOld && plants.length === 0 && added.length === 0;
  const isUnfiltered = list === hrefOf({});
  const text = isEmpty && isUnfiltered ? 'No plants' : statusText(page, search);
  return (
    <div className={styles.list}>
      <Toolbar tag={tag} search={search} />
      {checked.size > 0 ? (
        <SelectionLine />
      ) : (
        <div className={styles.line}>
          <StatusText text={text} list={list} lostAt={page.lostAt} isLoading={!isLoaded || isOld} />
          {!isEmpty &&
            tags.map((tag) => (
              <LinkButton key={tag} kind="quiet" href={hrefOf({ tag })}>
                Tag <ClientText text={tag.slice(0, 30)} />
              </LinkButton>
            ))}
        </div>
      )}
      <div ref={scroller} id="plants" tabIndex={-1} className={`card ${styles.scroller}`}>
        {isEmpty && isUnfiltered && <NoPlants title="No plants yet" />}
        {isEmpty && !isUnfiltered && <NoMatch tag={tag} search={search} tags={tags} />}
        {!isEmpty && isLoaded && <PlantTable plants={plants} list={list} isOld={isOld} />}
        {!isLoaded && (
          <Message>
            <p role="status">
              {error ? `The plants cannot be shown. ${explainError(error)}` : 'Loading …'}
            </p>
          </Message>
        )}
      </div>
      <Pager address={address} next={page.next} />
    </div>
  );
}

function statusText(page: ReturnType<typeof useListPage>, search: string | undefined): string {
  const { plants, next, count, isLoaded, isOld } = page;
  if (!isLoaded) return '';
  if (search === undefined) return count ? countOf(count.count, count) : 'Counting …';
  if (isOld) return 'Searching …';
  return number.format(plants.length) + (next === undefined ? ' found' : ' shown, more follow');
}

interface StatusTextProps {
  text: string;
  /** Names the list. A screen reader hears the text when another list or page is shown. */
  list: string;
  /** When the store last responded, while it does not respond. */
  lostAt: Date | undefined;
  isLoading: boolean;
}

/** Says how many plants there are. */
function StatusText({ text, list, lostAt, isLoading }: StatusTextProps) {
  const [heard, setHeard] = useState({ list: '', text: '' });
  // Changes by other people are not announced.
  if (!isLoading && !text.endsWith('…') && heard.list !== list) setHeard({ list, text });
  return (
    <>
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
    </>
  );
}

/** Takes the place of the number of plants while rows are checked. */
function SelectionLine() {
  const { may } = useIdentity();
  const { checked, change } = useListState();
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
        <Button
          kind="danger-plain"
          icon="bin"
          onClick={() => change({ dialog: { name: 'delete', plants } })}
        >
          Delete
        </Button>
      )}
      <Button kind="quiet" onClick={() => change({ checked: new Map() })}>
        Clear
      </Button>
    </section>
  );
}

/** The link to the page before each page that this visit has shown or could show next. */
const linksBefore = new Map<string, string>();

/** Links to the other pages of the list. A link that the user opens afresh has no page before. */
function Pager({ address, next }: { address: Address; next: string | undefined }) {
  const { tag, search, after } = address;
  const linkTo = (place: string | undefined) => hrefOf({ tag, search, after: place });
  const here = linkTo(after);
  const nextLink = next && linkTo(next);
  useEffect(() => {
    if (nextLink) linksBefore.set(nextLink, here);
  }, [nextLink, here]);
  return (
    <nav className={styles.pager} aria-label="Pages" data-only={!(after || nextLink) || undefined}>
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
