import { isRetryable } from '@plant-store/client';
import type { StoredPlant } from '@plant-store/schemas';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert, isError } from '../../store/errors.tsx';
import { baseUrl, curlOf, type Permissions, useClient } from '../../store/store.tsx';
import { hrefOf } from '../../ui/address.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import { Beside } from '../../ui/dialog.tsx';
import {
  type PlantActions,
  plantQuery,
  refreshInterval,
  type SeenPlant,
} from '../plant-queries.ts';
import { PlantFacts } from '../plant-text.tsx';
import { CorrectPlant } from './correct-plant.tsx';

interface OnePlantProps {
  id: bigint;
  may: Permissions;
  /** Whether rows of the list are checked. There is then one Delete, for the checked rows. */
  isListChecked: boolean;
  actions: PlantActions;
  onCorrected(plant: StoredPlant): void;
  onClose(): void;
}

/** Shows one plant beside the list, as it is in the store now. */
export function OnePlant({ id, onClose, ...rest }: OnePlantProps) {
  const client = useClient();
  const { data: plant, error } = useQuery({
    ...plantQuery(client, id),
    refetchInterval: ({ state }) => (!state.error || isRetryable(state.error)) && refreshInterval,
  });
  const isGone = isError(error, 'plantUnknown');
  return (
    <Beside title={plant ? <ClientText text={plant.name} /> : `Plant ${id}`} onClose={onClose}>
      {isGone && (
        <p role="status">{plant ? 'This plant was deleted.' : `No plant has the number ${id}.`}</p>
      )}
      {!plant && !error && <p>Loading …</p>}
      {!isGone && error && plant && (
        <p className="warning" role="alert">
          Connection lost. Trying again …
        </p>
      )}
      {!isGone && !plant && <ErrorAlert error={error} />}
      {!isGone && plant && <FoundPlant plant={plant} {...rest} />}
    </Beside>
  );
}

interface FoundPlantProps extends Omit<OnePlantProps, 'id' | 'onClose'> {
  plant: SeenPlant;
}

function FoundPlant({ plant, may, isListChecked, actions, onCorrected }: FoundPlantProps) {
  const { id, name, tag } = plant;
  const [isCorrecting, setIsCorrecting] = useState(false);
  if (isCorrecting) {
    const onClose = () => setIsCorrecting(false);
    return <CorrectPlant plant={plant} onCorrected={onCorrected} onClose={onClose} />;
  }
  return (
    <>
      <PlantFacts plant={plant} />
      <div className="row">
        {may.update && (
          <Button kind="primary" icon="edit" onClick={() => setIsCorrecting(true)}>
            Correct
          </Button>
        )}
        {may.create && (
          <Button
            icon="copy"
            onClick={() => actions.add({ name, ...(tag !== undefined && { tag }) })}
          >
            Duplicate
          </Button>
        )}
        <CopyButton icon="link" label="Copy link" text={baseUrl() + hrefOf({ plant: id })} />
        <CopyButton label="Copy as curl" text={curlOf(`plants/${id}`)} />
        {may.delete && !isListChecked && (
          <Button kind="danger-plain" icon="bin" onClick={() => actions.remove([plant])}>
            Delete
          </Button>
        )}
      </div>
    </>
  );
}
