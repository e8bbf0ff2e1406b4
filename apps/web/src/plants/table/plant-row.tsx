import type { StoredPlant } from '@plant-store/schemas';
import { shorten } from '@plant-store/schemas/plain';
import type { MouseEvent } from 'react';
import { useMedia } from '../../controls/use-media.ts';
import { showField, shownFields, tableFields } from '../shown-fields.tsx';

interface PlantRowProps {
  row: number;
  /** The `aria-rowindex`, or undefined while earlier rows are unknown. The header has the index 1. */
  ariaIndex: number | undefined;
  /** The distance in pixels from the start of the rows. */
  top: number;
  /** The plant of the row, or undefined while the plant is loading. */
  plant: StoredPlant | undefined;
  isActive: boolean;
  /** Whether the view beside the table shows the plant. */
  isOpen: boolean;
  /** Whether the plant was created just now. */
  isNew: boolean;
  /** Whether the row is selected, or undefined when rows cannot be selected. */
  isSelected: boolean | undefined;
  onOpen(): void;
  onHover(): void;
  onSelect(event: MouseEvent): void;
}

export function PlantRow(props: PlantRowProps) {
  const { row, ariaIndex, top, plant, isActive, isOpen, isNew, isSelected } = props;
  const { onOpen, onHover, onSelect } = props;
  const onClick = ({ target }: MouseEvent) => {
    // A click that selects text or opens the link of a tag must not open the plant.
    const isForRow = getSelection()?.isCollapsed && !(target as Element).closest('a, label');
    if (plant && isForRow) onOpen();
  };
  return (
    <div
      id={`row-${row}`}
      className="plant-row"
      role="row"
      aria-rowindex={ariaIndex}
      aria-selected={isSelected}
      data-active={isActive || undefined}
      data-open={isOpen || undefined}
      data-new={isNew || undefined}
      style={{ transform: `translateY(${top}px)` }}
      onClick={onClick}
      onPointerEnter={onHover}
    >
      {plant && isSelected !== undefined && (
        <span role="gridcell" className="plant-check">
          <label>
            <input
              type="checkbox"
              tabIndex={-1}
              aria-label={`Select ${shorten(plant.name)}`}
              checked={isSelected}
              onClick={onSelect}
              readOnly
            />
          </label>
        </span>
      )}
      {plant ? (
        tableFields.map((field) => (
          <span key={field} role="gridcell" className={`plant-${field}`}>
            {showField(plant, field, 'cell')}
          </span>
        ))
      ) : (
        <span role="gridcell" className="plant-loading">
          <span className="visually-hidden">Loading</span>
        </span>
      )}
    </div>
  );
}

/** Shows the names of the columns above the rows. */
export function TableHeader({ hasChecks }: { hasChecks: boolean }) {
  return (
    <div className="plant-table-header" role="row" aria-rowindex={1}>
      {hasChecks && (
        <span role="columnheader">
          <span className="visually-hidden">Selected</span>
        </span>
      )}
      {tableFields.map((field) => (
        <span key={field} role="columnheader" data-field={field}>
          {shownFields[field].label}
        </span>
      ))}
    </div>
  );
}

/** Returns the height of a row in pixels, which depends on the font size in the user's browser. */
export function useRowHeight(): number {
  // On narrow screens, a row has two lines, as in plant-table-narrow.css.
  const isNarrow = useMedia('(width < 48rem)');
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return Math.round(rem * (isNarrow ? 3.25 : 2.25));
}
