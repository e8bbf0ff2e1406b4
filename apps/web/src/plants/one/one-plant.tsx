import { isRetryable } from '@plant-store/client';
import type { StoredPlant } from '@plant-store/schemas';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ErrorAlert, isUnknownPlant } from '../../store/errors.tsx';
import { baseUrl, type Permissions, useClient } from '../../store/store.tsx';
import { hrefOf } from '../../ui/address.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import { Beside } from '../../ui/dialog.tsx';
import { curlOf, plantQuery, refreshInterval } from '../plant-queries.ts';
import { PlantFacts } from '../plant-text.tsx';
import { CorrectPlant } from './correct-plant.tsx';

interface OnePlantProps {
  id: bigint;
  may: Permissions;
  /** Whether rows of the list are checked. There is then one Delete, for the checked rows. */
  isListChecked: boolean;
  onDuplicate(plant: StoredPlant): void;
  onDelete(plants: readonly StoredPlant[]): void;
  onClose(): void;
}

/** Shows one plant beside the list, as it is in the store now. */
export function OnePlant({
  id,
  may,
  isListChecked,
  onDuplicate,
  onDelete,
  onClose,
}: OnePlantProps) {
  const client = useClient();
  const [isCorrecting, setIsCorrecting] = useState(false);
  const { data: plant, error } = useQuery({
    ...plantQuery(client, id),
    refetchInterval: ({ state }) => (!state.error || isRetryable(state.error)) && refreshInterval,
  });
  const isGone = isUnknownPlant(error);
  return (
    <Beside title={plant ? <ClientText text={plant.name} /> : `Plant ${id}`} onClose={onClose}>
      {isGone && (
        <p role="status">{plant ? 'This plant was deleted.' : `No plant has the number ${id}.`}</p>
      )}
      {!plant && !error && <p>Loading …</p>}
      {!isGone && plant && error && (
        <p className="warning" role="alert">
          Connection lost. Trying again …
        </p>
      )}
      {!isGone && !plant && <ErrorAlert error={error} />}
      {!isGone && plant && isCorrecting && (
        <CorrectPlant plant={plant} onClose={() => setIsCorrecting(false)} />
      )}
      {!isGone && plant && !isCorrecting && (
        <>
          <PlantFacts plant={plant} />
          <div className="row">
            {may.update && (
              <Button kind="primary" icon="edit" onClick={() => setIsCorrecting(true)}>
                Correct
              </Button>
            )}
            {may.create && (
              <Button icon="copy" onClick={() => onDuplicate(plant)}>
                Duplicate
              </Button>
            )}
            <CopyButton icon="link" label="Copy link" text={baseUrl() + hrefOf({ plant: id })} />
            <CopyButton label="Copy as curl" text={curlOf('getPlant', { id })} />
            {may.delete && !isListChecked && (
              <Button kind="danger-plain" icon="bin" onClick={() => onDelete([plant])}>
                Delete
              </Button>
            )}
          </div>
        </>
      )}
    </Beside>
  );
}
