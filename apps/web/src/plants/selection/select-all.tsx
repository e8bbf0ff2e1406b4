import { maxPageSize } from '@plant-store/schemas/plain';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { filterOf, type PlantFilter } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { background, useTRPCClient } from '../../store/trpc.ts';

interface SelectAllProps {
  filter: PlantFilter;
  /** Runs for each page of the list, with the ids of all pages so far. */
  onChange(ids: ReadonlySet<bigint>): void;
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
      const ids = new Set<bigint>();
      let after: bigint | undefined;
      do {
        const input = { ...filterOf(filter), ...(after !== undefined && { after }) };
        const page = await client.listPlants.query({ ...input, limit: maxPageSize }, options);
        for (const { id } of page.plants) ids.add(id);
        onChange(new Set(ids));
        after = page.next;
      } while (after !== undefined);
    },
    onError: () => onChange(new Set()),
  });
  return (
    <Button disabled={select.isPending} onClick={() => select.mutate()} icon="select">
      <span>{select.isPending ? 'Selecting …' : 'Select all'}</span>
    </Button>
  );
}
