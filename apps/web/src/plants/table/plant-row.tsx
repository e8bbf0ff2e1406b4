import type { StoredPlant } from '@plant-store/schemas';

interface PlantRowProps {
  index: number;
  /** Pixels from the start of the rows. */
  top: number;
  /** Undefined while it is loaded. */
  plant: StoredPlant | undefined;
  isActive: boolean;
  onOpen(plant: StoredPlant): void;
}

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

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

function PlantCells({ plant: { id, name, tag, createdAt } }: { plant: StoredPlant }) {
  return (
    <>
      <span role="gridcell" className="plant-id">
        {String(id)}
      </span>
      <span role="gridcell" className="plant-name">
        {name}
      </span>
      <span role="gridcell" className="plant-tag">
        {tag !== undefined && <span className="tag">{tag}</span>}
      </span>
      <span role="gridcell" className="plant-time">
        <time dateTime={createdAt.toISOString()}>{time.format(createdAt)}</time>
      </span>
    </>
  );
}

function LoadingCells() {
  return (
    <span role="gridcell" className="plant-loading">
      <span className="visually-hidden">Loading</span>
    </span>
  );
}
