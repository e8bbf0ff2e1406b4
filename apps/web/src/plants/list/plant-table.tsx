import type { StoredPlant } from '@plant-store/schemas';
import { type MouseEvent, useEffect, useState } from 'react';
import { go, hrefOf, useAddress } from '../../ui/address.ts';
import { ClientText, countOf } from '../../ui/client-text.tsx';
import { useListState } from '../plant-state.ts';
import { TagLink, Time } from '../plant-text.tsx';
import styles from './plant-table.module.css';

interface PlantTableProps {
  plants: readonly StoredPlant[];
  list: string;
  /** Whether the rows belong to the previous list, because the rows of this list still load. */
  isOld: boolean;
}

const columns = ['Name', 'Tag', 'Number', 'Created'];

/** The table of one page of plants. */
export function PlantTable({ plants, list, isOld }: PlantTableProps) {
  const { added } = useListState();
  const addedIds = new Set(added.map(({ id }) => id));
  const others = plants.filter(({ id }) => !addedIds.has(id));
  const row = (plant: StoredPlant) => <PlantRow key={String(plant.id)} plant={plant} />;
  return (
    <table className={styles.table} aria-label="Plants" aria-busy={isOld}>
      <thead>
        <tr>
          <th scope="col" className={styles.check}>
            <CheckAll plants={[...added, ...others]} />
          </th>
          {columns.map((column) => (
            <th key={column} scope="col" className={styles[column.toLowerCase()]}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      {added.length > 0 && (
        <tbody className={styles.added}>
          <tr>
            <th scope="rowgroup" colSpan={2}>
              {added.length === 1 ? 'Just added' : `Just added: ${countOf(added.length)}`}
            </th>
            {columns.slice(1).map((column) => (
              <td key={column} className={styles[column.toLowerCase()]} />
            ))}
          </tr>
          {added.map(row)}
        </tbody>
      )}
      <tbody data-settled={useIsSettled(list, isOld) || undefined}>{others.map(row)}</tbody>
    </table>
  );
}

/** Whether the first rows of a list are on the screen. The style sheet highlights rows that appear later. */
function useIsSettled(list: string, isOld: boolean): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(setSettled, 200, isOld ? undefined : list);
    return () => clearTimeout(timer);
  }, [list, isOld]);
  return settled === list && !isOld;
}

function PlantRow({ plant }: { plant: StoredPlant }) {
  const { id, name, tag, createdAt } = plant;
  const { checked, change } = useListState();
  const address = useAddress();
  // The link is for the keyboard and for new tabs. A click on another part of the row also opens the plant.
  const onClick = ({ target }: MouseEvent) => {
    const isForRow = target instanceof Element && !target.closest('a, label');
    if (isForRow && getSelection()?.isCollapsed) go({ plant: id });
  };
  const onCheck = () => {
    const next = new Map(checked);
    if (!next.delete(id)) next.set(id, plant);
    change({ checked: next });
  };
  return (
    <tr onClick={onClick}>
      <td className={styles.check}>
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${name.slice(0, 100)}`}
            checked={checked.has(id)}
            onChange={onCheck}
          />
        </label>
      </td>
      <td className={styles.name}>
        <a
          className="clamp"
          href={hrefOf({ ...address, plant: id })}
          aria-current={address.plant === id}
        >
          <ClientText text={name} />
        </a>
        {/* A narrow list shows the tag and the number here, and has no columns for them. */}
        <div className={styles.narrow}>
          {tag !== undefined && <TagLink tag={tag} />}
          <span>{String(id)}</span>
        </div>
      </td>
      <td className={styles.tag}>{tag !== undefined && <TagLink tag={tag} />}</td>
      <td className={styles.number}>{String(id)}</td>
      <td className={styles.created}>
        <Time at={createdAt} />
      </td>
    </tr>
  );
}

function CheckAll({ plants }: { plants: readonly StoredPlant[] }) {
  const { checked, change } = useListState();
  const isAll = plants.length > 0 && plants.every(({ id }) => checked.has(id));
  const checkAll = () =>
    change({ checked: new Map(isAll ? [] : plants.map((plant) => [plant.id, plant])) });
  return (
    <label>
      <input
        ref={(input) => {
          if (input) input.indeterminate = checked.size > 0 && !isAll;
        }}
        type="checkbox"
        aria-label="Select all plants of this page"
        checked={isAll}
        onChange={checkAll}
      />
    </label>
  );
}
