import type { StoredPlant } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { filterOf, type PlantFilter } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { background, useTRPCClient } from '../../store/trpc.ts';
import type { SelectedPlants } from '../selected-plants.ts';

interface SelectAllProps {
  filter: PlantFilter;
  /** Runs for each page of the list, with the plants of all pages so far. */
  onChange(plants: SelectedPlants): void;
}

/** Selects all plants of a filter, page by page. The user can then delete exactly these plants. */
export function SelectAll({ filter, onChange }: SelectAllProps) {
  const client = useTRPCClient();
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const select = useMutation({
    async mutationFn() {
      running.current = new AbortController();
      const options = { ...background.trpc, signal: running.current.signal };
      const plants = new Map<bigint, StoredPlant>();
      let after: bigint | undefined;
      do {
        const input = { ...filterOf(filter), ...(after !== undefined && { after }) };
        const page = await client.listPlants.query({ ...input, limit: maxPageSize }, options);
        for (const plant of page.plants) plants.set(plant.id, plant);
        onChange(new Map(plants));
        after = page.next;
      } while (after !== undefined);
    },
    onError: () => onChange(new Map()),
  });
  return (
    <Button disabled={select.isPending} onClick={() => select.mutate()} icon="select">
      {select.isPending ? 'Selecting …' : 'Select all'}
    </Button>
  );
}
