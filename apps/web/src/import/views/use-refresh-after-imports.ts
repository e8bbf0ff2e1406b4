import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { refreshPlants } from '../../store/query-client.ts';
import { isActive } from '../file-import.ts';
import type { Imports } from '../imports.ts';

/** Asks for the plants again when an import has ended. */
export function useRefreshAfterImports(imports: Imports): void {
  const queryClient = useQueryClient();
  useEffect(() => {
    const countActive = () => imports.all().filter(isActive).length;
    let active = countActive();
    const unsubscribe = imports.subscribe(() => {
      const before = active;
      active = countActive();
      if (active < before) refreshPlants(queryClient);
    });
    return () => void unsubscribe();
  }, [imports, queryClient]);
}
