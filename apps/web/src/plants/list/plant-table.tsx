import type { StoredPlant } from '@plant-store/schemas';
import type { MouseEvent } from 'react';
import { go, hrefOf, readAddress } from '../../ui/address.ts';
import { ClientText, countOf } from '../../ui/client-text.tsx';
import { TagLink, Time } from '../plant-text.tsx';
import styles from './plant-table.module.css';

export type Checked = ReadonlyMap<bigint, StoredPlant>;

interface PlantTableProps {
  plants: readonly StoredPlant[];
  /** What this person has just added. */
  added: readonly StoredPlant[];
  newIds: ReadonlySet<bigint>;
  /** The open plant. */
  open: bigint | undefined;
  isOld: boolean;
  checked: Checked;
  onCheck(checked: Checked): void;
}

/** The table of one page of plants. */
export function PlantTable(props: PlantTableProps) {
  const { plants, added, newIds, open, isOld, checked, onCheck } = props;
  const addedIds = new Set(added.map(({ id }) => id));
  const others = plants.filter(({ id }) => !addedIds.has(id));
  const rows = [...added, ...others];
  const check = (plant: StoredPlant) => {
    const next = new Map(checked);
    if (!next.delete(plant.id)) next.set(plant.id, plant);
    onCheck(next);
  };
  const row = (plant: StoredPlant) => (
    <PlantRow
      key={String(plant.id)}
      plant={plant}
      isOpen={plant.id === open}
      isNew={newIds.has(plant.id)}
      isChecked={checked.has(plant.id)}
      onCheck={() => check(plant)}
    />
  );
  return (
    <table className={styles.table} aria-label="Plants" aria-busy={isOld}>
      <thead>
        <tr>
          <th scope="col" className={styles.check}>
            <CheckAll rows={rows} checked={checked} onCheck={onCheck} />
          </th>
          <th scope="col">Name</th>
          <th scope="col" className={styles.tag}>
            Tag
          </th>
          <th scope="col" className={styles.number}>
            Number
          </th>
          <th scope="col" className={styles.created}>
            Created
          </th>
        </tr>
      </thead>
      {added.length > 0 && (
        <tbody className={styles.added}>
          <tr>
            <th scope="rowgroup" colSpan={5}>
              {added.length === 1 ? 'Just added' : `Just added: ${countOf(added.length)}`}
            </th>
          </tr>
          {added.map(row)}
        </tbody>
      )}
      <tbody>{others.map(row)}</tbody>
    </table>
  );
}

interface PlantRowProps {
  plant: StoredPlant;
  isOpen: boolean;
  /** Whether the plant has come to the list while the user was looking at it. */
  isNew: boolean;
  isChecked: boolean;
  onCheck(): void;
}

function PlantRow(props: PlantRowProps) {
  const { plant, isOpen, isNew, isChecked, onCheck } = props;
  const { id, name, tag, createdAt } = plant;
  // The link is for the keyboard and for new tabs. A click on any other part of the row does the same.
  const onClick = ({ target }: MouseEvent) => {
    const isForRow = target instanceof Element && !target.closest('a, label');
    if (isForRow && getSelection()?.isCollapsed) go({ plant: id });
  };
  return (
    <tr
      onClick={onClick}
      data-open={isOpen || undefined}
      data-new={isNew || undefined}
      data-checked={isChecked || undefined}
    >
      <td className={styles.check}>
        <label>
          <input
            type="checkbox"
            aria-label={`Select ${name.slice(0, 100)}`}
            checked={isChecked}
            onChange={onCheck}
          />
        </label>
      </td>
      <td className={styles.name}>
        <a className="clamp" href={hrefOf({ ...readAddress(), plant: id })} aria-current={isOpen}>
          <ClientText text={name} />
        </a>
      </td>
      <td className={styles.tag}>{tag !== undefined && <TagLink tag={tag} />}</td>
      <td className={styles.number}>{String(id)}</td>
      <td className={styles.created}>
        <Time at={createdAt} />
      </td>
    </tr>
  );
}

interface CheckAllProps {
  rows: readonly StoredPlant[];
  checked: Checked;
  onCheck(checked: Checked): void;
}

/** Checks all rows of the page. */
function CheckAll({ rows, checked, onCheck }: CheckAllProps) {
  const count = rows.filter(({ id }) => checked.has(id)).length;
  const isAll = count === rows.length && count > 0;
  return (
    <label>
      <input
        ref={(input) => {
          if (input) input.indeterminate = count > 0 && !isAll;
        }}
        type="checkbox"
        aria-label="Select all plants of this page"
        checked={isAll}
        onChange={() => onCheck(isAll ? new Map() : new Map(rows.map((row) => [row.id, row])))}
      />
    </label>
  );
}
