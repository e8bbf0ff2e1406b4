import type { Format } from '@plant-store/formats';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { ErrorAlert } from '../store/errors.tsx';
import { curlOf, useClient } from '../store/store.tsx';
import { hrefOf, type PlantFilter } from '../ui/address.ts';
import { Button, CopyButton } from '../ui/button.tsx';
import { ClientText, countOf } from '../ui/client-text.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { notify } from '../ui/notice.tsx';
import { allPages } from './plant-queries.ts';
import { plantFile } from './save-plants.ts';

interface ExportPlantsProps {
  filter: PlantFilter;
  onClose(): void;
}

/** Saves all plants that the list shows, on all its pages, as a file. */
export function ExportPlants({ filter, onClose }: ExportPlantsProps) {
  const { tag, search } = filter;
  const client = useClient();
  const [count, setCount] = useState(0);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const save = useMutation({
    async mutationFn(format: Format) {
      const controller = new AbortController();
      running.current = controller;
      const file = plantFile({ format, names: [tag, search] });
      let saved = 0;
      setCount(0);
      for await (const plants of allPages(client, filter, controller.signal)) {
        file.add(plants);
        saved += plants.length;
        setCount(saved);
      }
      file.save();
      return saved;
    },
    onSuccess(saved) {
      notify(`Saved ${countOf(saved)}`);
      onClose();
    },
  });
  const { isPending } = save;
  return (
    <Dialog title="Export" isBusy={isPending} onClose={onClose}>
      <p>
        {tag === undefined && search === undefined ? 'All plants' : 'The plants'}
        {tag !== undefined && ' with the tag '}
        {tag !== undefined && <ClientText text={tag} />}
        {search !== undefined && ' that match '}
        {search !== undefined && <ClientText text={search} />}, as a file for a spreadsheet (CSV) or
        for a program (NDJSON).
      </p>
      <p role="status">{isPending && `${countOf(count)} …`}</p>
      <ErrorAlert start="The file is not saved." error={save.error} />
      <div className="row">
        {isPending ? (
          <Button onClick={() => running.current?.abort()}>Stop</Button>
        ) : (
          <>
            <Button onClick={onClose}>Cancel</Button>
            <CopyButton
              label="Copy as curl"
              text={curlOf(`plants${hrefOf(filter).replace('#', '?')}`)}
            />
            <Button onClick={() => save.mutate('ndjson')}>NDJSON</Button>
            <Button kind="primary" icon="download" data-focus onClick={() => save.mutate('csv')}>
              CSV
            </Button>
          </>
        )}
      </div>
    </Dialog>
  );
}
