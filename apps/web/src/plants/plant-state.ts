import type { NewPlant, StoredPlant } from '@plant-store/schemas';
import { queryOptions } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { client } from '../store.tsx';

/** The console loads the list and the open plant again after this number of milliseconds. */
export const refreshInterval = 3_000;

/** A plant as the user sees it. Only a plant that was loaded alone has an `etag`. */
export type SeenPlant = StoredPlant & { readonly etag?: string };

/** The query for one plant. */
export function plantQuery(id: bigint) {
  return queryOptions({
    queryKey: ['plant', String(id)],
    queryFn: ({ signal }) => client.getPlant.query({ id }, { signal }),
  });
}

export type FormStart = { readonly [Key in keyof NewPlant]?: NewPlant[Key] | undefined };

export type OpenDialog =
  | { readonly name: 'tokens' | 'account' | 'export' }
  /** The form can start with the values of another plant. */
  | { readonly name: 'add'; readonly start?: FormStart }
  | { readonly name: 'import'; readonly file?: File | undefined }
  | { readonly name: 'delete'; readonly plants: readonly SeenPlant[] };

/** The state of the list that is not in the address. */
interface ListState {
  readonly dialog?: OpenDialog | undefined;
  readonly checked: ReadonlyMap<bigint, StoredPlant>;
  /** The plants that the user has just added. The list shows these plants first until the filter changes. */
  readonly added: readonly StoredPlant[];
}

export const emptyState: ListState = { checked: new Map(), added: [] };

export const ListContext = createContext({
  ...emptyState,
  change(_change: Partial<ListState>): void {},
});

/** Returns the state of the list, and functions that change the state, or open or close a dialog. */
export function useListState() {
  const state = useContext(ListContext);
  const open = (dialog: OpenDialog) => state.change({ dialog });
  const close = () => state.change({ dialog: undefined });
  return { ...state, open, close };
}
