import type { NewPlant } from '@plant-store/schemas';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import { AddPlant } from '../plants/add/add-plant.tsx';
import { DeleteById } from '../plants/selection/delete-by-id.tsx';
import type { Permissions } from '../token/allowed-scopes.ts';
import './without-reading.css';

interface WithoutReadingProps {
  may: Permissions;
  onAdded(plant: NewPlant): void;
  onAddFile(): void;
}

/** What somebody sees whose token may not read plants: a form for each thing that it may do. */
export function WithoutReading({ may, onAdded, onAddFile }: WithoutReadingProps) {
  return (
    <div className="without-reading">
      <div className="title">
        <h1>Plants</h1>
      </div>
      <p>This token may not read plants, so there is no list of them.</p>
      {may.create && (
        <section className="card">
          <h2>Add a plant</h2>
          <AddPlant mayRead={false} onAdded={onAdded} />
          <p>Or add many at once:</p>
          <Button onClick={onAddFile}>
            <Icon name="upload" />
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
