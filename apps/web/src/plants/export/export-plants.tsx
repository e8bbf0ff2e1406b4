import type { FormatName } from '@plant-store/formats';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../controls/button.tsx';
import { saveFile } from '../../controls/save-file.ts';
import { explainError } from '../../store/explain-error.ts';
import { background, useTRPCClient } from '../../store/trpc.ts';
import { countOf } from '../count-of.ts';
import { TagText } from '../tag-link.tsx';
import { exportPlants } from './write-export.ts';

/** Saves the plants of the table as a file. Closing the view stops it. */
export function ExportPlants({ tag }: { tag: string | undefined }) {
  const client = useTRPCClient();
  const [count, setCount] = useState(0);
  const cancelling = useRef(new AbortController());
  useEffect(() => () => cancelling.current.abort(), []);

  const save = useMutation({
    async mutationFn(format: FormatName) {
      cancelling.current = new AbortController();
      setCount(0);
      const list = (after: bigint | undefined, limit: number) =>
        client.listPlants.query(
          { limit, ...(tag !== undefined && { tag }), ...(after !== undefined && { after }) },
          { ...background.trpc, signal: cancelling.current.signal },
        );
      saveFile(`plants.${format}`, await exportPlants(list, format, setCount));
    },
  });
  const isCancelled = cancelling.current.signal.aborted;
  return (
    <>
      <p>
        {tag === undefined ? (
          'All plants'
        ) : (
          <>
            The plants with the tag “<TagText tag={tag} />”
          </>
        )}
        , ascending by id. A file of either format can be added again.
      </p>
      <div className="sheet-actions">
        <Button disabled={save.isPending} onClick={() => save.mutate('csv')}>
          Save as CSV
        </Button>
        <Button disabled={save.isPending} onClick={() => save.mutate('ndjson')}>
          Save as NDJSON
        </Button>
        {save.isPending && <Button onClick={() => cancelling.current.abort()}>Cancel</Button>}
      </div>
      <p role="status">
        {save.isPending && `Reading: ${countOf(count)} …`}
        {save.isSuccess && `Saved ${countOf(count)}`}
        {save.isError && isCancelled && 'Cancelled'}
      </p>
      {save.isError && !isCancelled && (
        <p className="alert" role="alert">
          The file is not saved. {explainError(save.error)}
        </p>
      )}
    </>
  );
}
