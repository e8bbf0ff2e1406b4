import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { PlantFilter } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { useTRPCClient } from '../../store/trpc.ts';
import { allPages } from '../list-page.ts';
import { byId, type SelectedPlants } from '../selected-plants.ts';

interface SelectAllProps {
  filter: PlantFilter;
  /** Runs after each response, with all plants of the responses so far. */
  onChange(plants: SelectedPlants): void;
}

/** Loads and selects all plants that match a filter. The user can then delete exactly the selected plants. */
export function SelectAll({ filter, onChange }: SelectAllProps) {
  const client = useTRPCClient();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const select = useMutation({
    async mutationFn() {
      running.current = new AbortController();
      let plants: SelectedPlants = new Map();
      for await (const page of allPages(client, filter, running.current.signal)) {
        plants = new Map([...plants, ...byId(page)]);
        onChange(plants);
      }
    },
    onError: () => onChange(new Map()),
  });
  return (
    <Button disabled={select.isPending} onClick={() => select.mutate()} icon="select">
      {select.isPending ? 'Selecting …' : 'Select all'}
    </Button>
  );
}
