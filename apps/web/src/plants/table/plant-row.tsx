import type { StoredPlant } from '@plant-store/schemas';
import { showField, tableFields } from '../shown-fields.tsx';

interface PlantRowProps {
  index: number;
  /** Pixels from the start of the rows. */
  top: number;
  /** Undefined while it is loaded. */
  plant: StoredPlant | undefined;
  isActive: boolean;
  onOpen(plant: StoredPlant): void;
}

export function PlantRow({ index, top, plant, isActive, onOpen }: PlantRowProps) {
  return (
    <div
      id={`row-${index}`}
      className="plant-row"
      role="row"
      aria-rowindex={index + 2}
      data-active={isActive || undefined}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => plant && onOpen(plant)}
    >
      {plant ? <PlantCells plant={plant} /> : <LoadingCells />}
    </div>
  );
}

function PlantCells({ plant }: { plant: StoredPlant }) {
  return tableFields.map((field) => (
    <span key={field} role="gridcell" className={`plant-${field}`}>
      {showField(plant, field, 'cell')}
    </span>
  ));
}

function LoadingCells() {
  return (
    <span role="gridcell" className="plant-loading">
      <span className="visually-hidden">Loading</span>
    </span>
  );
}
