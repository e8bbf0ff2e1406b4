import { plantStoreError } from '@plant-store/client';
import type { StoredPlant } from '@plant-store/schemas';
import { useQuery } from '@tanstack/react-query';
import { hrefOf, type PlantFilter, replace } from '../address/address.ts';
import { Button } from '../controls/button.tsx';
import { ErrorAlert } from '../store/error-alert.tsx';
import { useTRPC } from '../store/trpc.ts';
import { DeleteButton } from './delete-button.tsx';
import { PlantText } from './plant-text.tsx';
import { byId } from './selected-plants.ts';
import { PlantFacts } from './shown-fields.tsx';
import { useNeighbours } from './use-neighbours.ts';

interface PlantDetailsProps {
  id: bigint;
  /** Selects the list that contains the previous and the next plant. */
  filter: PlantFilter;
  may: Record<'create' | 'delete', boolean>;
  onDeleted(plant: StoredPlant): void;
  onDuplicate(plant: StoredPlant): void;
}

/** Shows all fields of a plant, with the current values in the store. */
export function PlantDetails({ id, filter, may, onDeleted, onDuplicate }: PlantDetailsProps) {
  const { data: plant, error } = usePlant(id);
  const { previous, next } = useNeighbours(id, filter);
  const isUnknown = plantStoreError(error)?.kind === 'plantUnknown';
  return (
    <>
      <nav className="sheet-actions row plant-steps" aria-label="Previous and next plant">
        <Button
          icon="previous"
          disabled={previous === undefined}
          onClick={() => replace({ plant: previous })}
        >
          Previous plant
        </Button>
        <Button icon="next" disabled={next === undefined} onClick={() => replace({ plant: next })}>
          Next plant
        </Button>
      </nav>
      {isUnknown && (
        <p role="status">{plant ? 'This plant was deleted.' : `No plant has the id ${id}.`}</p>
      )}
      {!isUnknown && plant && (
        <>
          <PlantFacts plant={plant} />
          <small>Plants never change: add the correct plant, and delete this one.</small>
          <div className="sheet-actions row">
            {may.create && <Button onClick={() => onDuplicate(plant)}>Duplicate …</Button>}
            {may.delete && (
              <DeleteButton
                key={String(id)}
                plants={byId([plant])}
                name={plant.name}
                canUndo={may.create}
                onEnd={({ deleted, missing }) => deleted.length + missing > 0 && onDeleted(plant)}
              />
            )}
            {/* biome-ignore lint/security/noBlankTarget: an opener copies its token into the new tab. */}
            <a className="button" href={hrefOf({ plant: id })} target="_blank" rel="opener">
              Open in a new tab
            </a>
          </div>
        </>
      )}
      {!isUnknown && !plant && !error && <p>Loading …</p>}
      {!isUnknown && !plant && <ErrorAlert error={error} />}
    </>
  );
}

/** Shows the name of a plant, or the id until the name is known. */
export function PlantTitle({ id }: { id: bigint }) {
  const name = usePlant(id).data?.name;
  return name ? <PlantText text={name} /> : `Plant ${id}`;
}

function usePlant(id: bigint) {
  const trpc = useTRPC();
  return useQuery(trpc.getPlant.queryOptions({ id }, { staleTime: 0 }));
}
