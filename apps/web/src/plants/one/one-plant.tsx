import { isRetryable } from '@plant-store/client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { baseUrl, curlOf, ErrorAlert, isError, useIdentity } from '../../store.tsx';
import { closePlant, hrefOf } from '../../ui/address.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { ClientText } from '../../ui/client-text.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { plantQuery, refreshInterval, type SeenPlant, useListState } from '../plant-state.ts';
import { PlantFacts } from '../plant-text.tsx';
import { CorrectPlant } from './edit-plant.tsx';

/** Shows one plant beside the list, as it is in the store now. */
export function OnePlant({ id }: { id: bigint }) {
  const [isCorrecting, setIsCorrecting] = useState(false);
  const { data: plant, error } = useQuery({
    ...plantQuery(id),
    refetchInterval: ({ state }) => (!state.error || isRetryable(state.error)) && refreshInterval,
  });
  const title = plant ? <ClientText text={plant.name} /> : `Plant ${id}`;
  if (isError(error, 'plantUnknown')) {
    return (
      <Dialog place="beside" title={title} onClose={closePlant}>
        <p role="status">{plant ? 'This plant was deleted.' : `No plant has the number ${id}.`}</p>
      </Dialog>
    );
  }
  return (
    <Dialog place="beside" title={title} onClose={closePlant}>
      {!plant && !error && <p>Loading …</p>}
      {!plant && <ErrorAlert error={error} />}
      {plant && error && (
        <p className="warning" role="alert">
          Connection lost. Trying again …
        </p>
      )}
      {plant && !isCorrecting && <PlantFacts plant={plant} />}
      {plant && !isCorrecting && (
        <PlantActions plant={plant} onCorrect={() => setIsCorrecting(true)} />
      )}
      {plant && isCorrecting && (
        <CorrectPlant plant={plant} onClose={() => setIsCorrecting(false)} />
      )}
    </Dialog>
  );
}

function PlantActions({ plant, onCorrect }: { plant: SeenPlant; onCorrect(): void }) {
  const { id, name, tag } = plant;
  const { may } = useIdentity();
  const { checked, open } = useListState();
  const duplicate = () => open({ name: 'add', start: { name, tag } });
  return (
    <div className="row">
      {may('plants:update') && (
        <Button kind="primary" icon="edit" onClick={onCorrect}>
          Correct
        </Button>
      )}
      {may('plants:create') && (
        <Button icon="copy" onClick={duplicate}>
          Duplicate
        </Button>
      )}
      <CopyButton icon="link" label="Copy link" text={baseUrl() + hrefOf({ plant: id })} />
      <CopyButton label="Copy as curl" text={curlOf(`plants/${id}`)} />
      {/* While rows are checked, the only Delete button is for the checked rows. */}
      {may('plants:delete') && checked.size === 0 && (
        <Button
          kind="danger-plain"
          icon="bin"
          onClick={() => open({ name: 'delete', plants: [plant] })}
        >
          Delete
        </Button>
      )}
    </div>
  );
}
