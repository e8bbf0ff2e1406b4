import type { StoredPlant } from '@plant-store/schemas';
import './plant-facts.css';

const time = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'medium' });

/** Everything that the store knows about a plant. */
export function PlantFacts({ plant: { id, name, tag, createdAt } }: { plant: StoredPlant }) {
  return (
    <dl className="plant-facts">
      <dt>Id</dt>
      <dd className="plant-facts-id">{String(id)}</dd>
      <dt>Name</dt>
      <dd>{name}</dd>
      <dt>Tag</dt>
      <dd>{tag === undefined ? <span className="plant-facts-none">none</span> : tag}</dd>
      <dt>Created</dt>
      <dd>
        <time dateTime={createdAt.toISOString()}>{time.format(createdAt)}</time>
        <span className="plant-facts-utc">{createdAt.toISOString()}</span>
      </dd>
    </dl>
  );
}
