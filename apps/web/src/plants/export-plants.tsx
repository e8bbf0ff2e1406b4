import { maxPageSize } from '@plant-store/schemas';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { client, curlOf, ErrorAlert } from '../store.tsx';
import { hrefOf, useAddress } from '../ui/address.ts';
import { plantFile } from '../ui/browser.ts';
import { Button, CopyButton } from '../ui/button.tsx';
import { countOf } from '../ui/client-text.tsx';
import { Dialog, notify } from '../ui/dialog.tsx';
import { useListState } from './plant-state.ts';

/** Saves the plants on all pages of the list as a file. */
export function ExportPlants() {
  const { tag, search } = useAddress();
  const { close } = useListState();
  const [count, setCount] = useState(0);
  const [running, setRunning] = useState<AbortController>();
  useEffect(() => () => running?.abort(), [running]);
  const save = useMutation({
    async mutationFn(format: 'csv' | 'ndjson') {
      const controller = new AbortController();
      setRunning(controller);
      const file = await plantFile(format);
      let saved = 0;
      let after: string | undefined;
      do {
        const input = { tag, search, after, limit: maxPageSize };
        const page = await client.listPlants.query(input, { signal: controller.signal });
        file.add(page.plants);
        saved += page.plants.length;
        setCount(saved);
        after = page.next;
      } while (after !== undefined);
      file.save();
      return saved;
    },
    onSuccess(saved) {
      notify(`Saved ${countOf(saved)}`);
      close();
    },
  });
  return (
    <Dialog title="Export" isBusy={save.isPending} onClose={close}>
      <p>
        Saves the plants on all pages of the list, as CSV for a spreadsheet or as NDJSON for a
        program.
      </p>
      <p role="status">{save.isPending && `${countOf(count)} …`}</p>
      <ErrorAlert start="The file is not saved." error={save.error} />
      {save.isPending ? (
        <div className="row">
          <Button onClick={() => running?.abort()}>Stop</Button>
        </div>
      ) : (
        <div className="row">
          <Button onClick={close}>Cancel</Button>
          <CopyButton
            label="Copy as curl"
            text={curlOf(`plants${hrefOf({ tag, search }).replace('#', '?')}`)}
          />
          <Button onClick={() => save.mutate('ndjson')}>NDJSON</Button>
          <Button kind="primary" icon="download" data-focus onClick={() => save.mutate('csv')}>
            CSV
          </Button>
        </div>
      )}
    </Dialog>
  );
}
