import type { StoredPlant } from '@plant-store/schemas';
import { Fragment } from 'react';
import './plant-facts.css';
import { fieldNames, showField, shownFields } from './shown-fields.tsx';

/** Everything that the store knows about a plant. */
export function PlantFacts({ plant }: { plant: StoredPlant }) {
  return (
    <dl className="plant-facts">
      {fieldNames.map((field) => (
        <Fragment key={field}>
          <dt>{shownFields[field].label}</dt>
          <dd>
            {showField(plant, field, 'fact') ?? <span className="plant-facts-none">none</span>}
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
