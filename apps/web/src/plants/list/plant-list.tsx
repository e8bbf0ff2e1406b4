import type { StoredPlant } from '@plant-store/schemas';
import { useLayoutEffect, useRef, useState } from 'react';
import { explainError } from '../../store/errors.tsx';
import type { Permissions } from '../../store/store.tsx';
import { type Address, hrefOf, useAddress } from '../../ui/address.ts';
import { LinkButton } from '../../ui/button.tsx';
import { countOf, number } from '../../ui/client-text.tsx';
import { EmptyList, NoMatch } from './empty-list.tsx';
import styles from './plant-list.module.css';
import { type Checked, PlantTable } from './plant-table.tsx';
import { SelectionLine, StatusLine } from './status-line.tsx';
import { Toolbar } from './toolbar.tsx';
import { useListPage, useNewIds, usePreviousPage } from './use-list-page.ts';

interface PlantListProps {
  may: Permissions;
  /** The name of the access token. */
  owner: string | undefined;
  /** What this person has just added. It stays on top until the filter changes. */
  added: readonly StoredPlant[];
  checked: Checked;
  onCheck(checked: Checked): void;
  onAdd(): void;
  onImport(): void;
  onSample(): void;
  onExport(): void;
  onExportChecked(plants: readonly StoredPlant[]): void;
  onDelete(plants: readonly StoredPlant[]): void;
}

const noneChecked: Checked = new Map();

/** The list of plants with its search, its actions and its pages. */
export function PlantList(props: PlantListProps) {
  const { may, owner, added, checked, onCheck, onAdd, onImport, onSample } = props;
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

  const add = { mayCreate: may.create, onAdd, onImport };
  if (!may.read) {
    const text = `Your access token “${owner}” may not read plants. Ask the person who gave it to you.`;
    return <EmptyList {...add} title="You cannot see the plants" text={text} />;
  }
  const isFiltered = tag !== undefined || search !== undefined || after !== undefined;
  const isEmpty = isLoaded && plants.length === 0 && added.length === 0 && !isOld;
  const text = isEmpty && !isFiltered ? 'No plants' : statusText(page, search);
  return (
    <div className={styles.list}>
      <Toolbar address={address} may={may} {...{ onAdd, onImport, onExport: props.onExport }} />
      {checked.size > 0 ? (
        <SelectionLine
          plants={[...checked.values()]}
          mayDelete={may.delete}
          onExport={props.onExportChecked}
          onDelete={props.onDelete}
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
        {isEmpty && !isFiltered && <EmptyList {...add} title="No plants yet" onSample={onSample} />}
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

/** Links to the other pages of the list. */
function Pager({ address, next }: { address: Address; next: string | undefined }) {
  const { tag, search, after } = address;
  const previous = usePreviousPage(address);
  const pageAfter = (place: string | null) => hrefOf({ tag, search, after: place ?? undefined });
  const links = [
    { icon: 'first', label: 'First', place: after === undefined ? undefined : null },
    { icon: 'previous', label: 'Previous', place: previous },
    { icon: 'next', label: 'Next', place: next },
  ] as const;
  const isOnly = after === undefined && next === undefined;
  return (
    <nav className={styles.pager} aria-label="Pages" data-only={isOnly || undefined}>
      {links.map(({ icon, label, place }) => (
        <LinkButton
          key={label}
          icon={icon}
          href={place === undefined ? undefined : pageAfter(place)}
        >
          {label}
        </LinkButton>
      ))}
    </nav>
  );
}
