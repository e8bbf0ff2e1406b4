import type { StoredPlant } from '@plant-store/schemas';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import { explainError } from '../../store/errors.tsx';
import type { Permissions } from '../../store/store.tsx';
import { type Address, hrefOf, useAddress } from '../../ui/address.ts';
import { LinkButton } from '../../ui/button.tsx';
import { countOf, number } from '../../ui/client-text.tsx';
import type { PlantActions } from '../plant-queries.ts';
import { EmptyList, NoMatch } from './empty-list.tsx';
import styles from './plant-list.module.css';
import { type Checked, PlantTable } from './plant-table.tsx';
import { SelectionLine, StatusLine } from './status-line.tsx';
import { Toolbar } from './toolbar.tsx';
import { useListPage, useNewIds } from './use-list-page.ts';

interface PlantListProps {
  may: Permissions;
  /** The name of the access token. */
  owner: string | undefined;
  /** What this person has just added. It stays on top until the filter changes. */
  added: readonly StoredPlant[];
  checked: Checked;
  onCheck(checked: Checked): void;
  actions: PlantActions;
}

const noneChecked: Checked = new Map();

/** The list of plants with its search, its actions and its pages. */
export function PlantList(props: PlantListProps) {
  const { may, owner, added, checked, onCheck, actions } = props;
  const address = useAddress();
  const { tag, search, after, plant } = address;
  const isPaused = checked.size > 0 || plant !== undefined;
  const page = useListPage(address, { isPaused, isEnabled: may.read });
  const { plants, next, tags, isLoaded, isOld, error } = page;

  const list = JSON.stringify([tag, search, after]);
  const newIds = useNewIds(isOld ? '' : list, plants);
  const [checkedIn, setCheckedIn] = useState(list);
  if (checkedIn !== list) {
    setCheckedIn(list);
    onCheck(noneChecked);
  }
  const scroller = useRef<HTMLDivElement>(null);
  // Another page begins at its top.
  useLayoutEffect(() => {
    if (!isOld) scroller.current?.scrollTo(0, 0);
  }, [list, isOld]);

  if (!may.read) {
    const text = `Your access token “${owner}” may not read plants. Ask the person who gave it to you.`;
    return <EmptyList title="You cannot see the plants" text={text} may={may} actions={actions} />;
  }
  const isFiltered = tag !== undefined || search !== undefined || after !== undefined;
  const isEmpty = isLoaded && plants.length === 0 && added.length === 0 && !isOld;
  const text = isEmpty && !isFiltered ? 'No plants' : statusText(page, search);
  return (
    <div className={styles.list}>
      <Toolbar address={address} may={may} actions={actions} />
      {checked.size > 0 ? (
        <SelectionLine
          plants={[...checked.values()]}
          mayDelete={may.delete}
          actions={actions}
          onClear={() => onCheck(noneChecked)}
        />
      ) : (
        <StatusLine
          list={list}
          text={text}
          isSettled={isLoaded && !isOld && !text.endsWith('…')}
          tags={isEmpty ? [] : tags}
          lostAt={page.lostAt}
        />
      )}
      <div ref={scroller} id="plants" tabIndex={-1} className={`card ${styles.scroller}`}>
        {isEmpty && !isFiltered && <EmptyList title="No plants yet" may={may} actions={actions} />}
        {isEmpty && isFiltered && <NoMatch tag={tag} search={search} tags={tags} />}
        {!isEmpty && isLoaded && (
          <PlantTable
            plants={plants}
            added={added}
            newIds={newIds}
            open={plant}
            isOld={isOld}
            checked={checked}
            onCheck={onCheck}
          />
        )}
        {!isLoaded && (
          <div className={styles.message} role="status">
            {error ? `The plants cannot be shown. ${explainError(error)}` : 'Loading …'}
          </div>
        )}
      </div>
      <Pager address={address} next={next} />
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

/** The link to the page before each page that this visit has shown or could show next. */
const linksBefore = new Map<string, string>();

/** Links to the other pages of the list. A link that the user opens afresh has no page before. */
function Pager({ address, next }: { address: Address; next: string | undefined }) {
  const { tag, search, after } = address;
  const linkTo = (place: string | undefined) => hrefOf({ tag, search, after: place });
  const here = linkTo(after);
  const nextLink = next === undefined ? undefined : linkTo(next);
  useEffect(() => {
    if (nextLink !== undefined) linksBefore.set(nextLink, here);
  }, [nextLink, here]);
  const isFirst = after === undefined;
  return (
    <nav
      className={styles.pager}
      aria-label="Pages"
      data-only={(isFirst && !nextLink) || undefined}
    >
      <LinkButton icon="first" href={isFirst ? undefined : linkTo(undefined)}>
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
