import type { NewPlant } from '@plant-store/schemas';
import { Button } from '../../controls/button.tsx';
import { AddPlant } from '../../plants/add/add-plant.tsx';
import { DeleteById } from '../../plants/selection/delete-by-id.tsx';
import type { Permissions } from '../../token/allowed-scopes.ts';
import './no-read-access.css';

interface NoReadAccessProps {
  may: Permissions;
  onAdded(plant: NewPlant): void;
  onAddFile(): void;
}

/** The main view for a token that may not read plants. Shows a form for each action that the token allows. */
export function NoReadAccess({ may, onAdded, onAddFile }: NoReadAccessProps) {
  return (
    <div className="no-read-access">
      <div className="title row">
        <h1>Plants</h1>
      </div>
      <p>This token may not read plants, so the list is not shown.</p>
      {may.create && (
        <section className="card">
          <h2>Add a plant</h2>
          <AddPlant mayRead={false} onAdded={onAdded} />
          <p>Or add the plants of files:</p>
          <Button onClick={onAddFile} icon="upload">
            Add files
          </Button>
        </section>
      )}
      {may.delete && (
        <section className="card">
          <h2>Delete plants</h2>
          <DeleteById />
        </section>
      )}
    </div>
  );
}
