import type { NewPlant } from '@plant-store/schemas';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icon.tsx';
import { AddPlant } from '../plants/add/add-plant.tsx';
import { DeleteById } from '../plants/selection/delete-by-id.tsx';
import './without-reading.css';

interface WithoutReadingProps {
  mayCreate: boolean;
  mayDelete: boolean;
  onAdded(plant: NewPlant): void;
  onAddFile(): void;
}

/** What somebody sees whose token may not read plants: a form for each thing that it may do. */
export function WithoutReading({ mayCreate, mayDelete, onAdded, onAddFile }: WithoutReadingProps) {
  return (
    <div className="without-reading">
      <p>This token may not read plants, so there is no list of them.</p>
      {mayCreate && (
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
      {mayDelete && (
        <section className="card">
          <h2>Delete plants</h2>
          <DeleteById />
        </section>
      )}
    </div>
  );
}
