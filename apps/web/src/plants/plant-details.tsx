import { plantStoreError } from '@plant-store/client';
import { useQuery } from '@tanstack/react-query';
import { explainError } from '../store/explain-error.ts';
import { useTRPC } from '../store/trpc.ts';
import { DeletePlant } from './delete-plant.tsx';
import { PlantFacts } from './plant-facts.tsx';

interface PlantDetailsProps {
  id: bigint;
  mayDelete: boolean;
  onDeleted(): void;
}

/** The whole of one plant, as it is stored now. */
export function PlantDetails({ id, mayDelete, onDeleted }: PlantDetailsProps) {
  const trpc = useTRPC();
  const { data: plant, error } = useQuery(trpc.getPlant.queryOptions({ id }, { staleTime: 0 }));
  if (plantStoreError(error)?.kind === 'plantUnknown')
    return <p>No plant has the id {String(id)}.</p>;
  if (plant) {
    return (
      <>
        <PlantFacts plant={plant} />
        {mayDelete && <DeletePlant plant={plant} onDeleted={onDeleted} />}
      </>
    );
  }
  if (error) {
    return (
      <p className="alert" role="alert">
        {explainError(error)}
      </p>
    );
  }
  return <p>Loading …</p>;
}
