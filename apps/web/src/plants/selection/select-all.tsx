import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { PlantFilter } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { useTRPCClient } from '../../store/trpc.ts';
import { allPages } from '../list-page.ts';
import { byId, type Selection } from '../selected-plants.ts';

interface SelectAllProps extends Selection {
  filter: PlantFilter;
}

/**
 * Loads and selects all plants that match a filter. The user can then delete exactly the selected plants. A
 * plant that the user removes from the selection meanwhile stays removed.
 */
export function SelectAll({ filter, plants: { size }, onChange }: SelectAllProps) {
  const client = useTRPCClient();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => {
    if (size === 0) running.current?.abort(); // The user has cleared the selection.
  }, [size]);
  const select = useMutation({
    async mutationFn() {
      running.current = new AbortController();
      for await (const page of allPages(client, filter, running.current.signal)) {
        onChange((latest) => new Map([...latest, ...byId(page)]));
      }
    },
    onError: () => onChange(() => new Map()),
  });
  return (
    <Button disabled={select.isPending} onClick={() => select.mutate()} icon="select">
      {select.isPending ? 'Selecting …' : 'Select all'}
    </Button>
  );
}
