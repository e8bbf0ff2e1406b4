import type { AppRouter } from '@plant-store/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';

/** tRPC's adapter for TanStack Query, typed by the store's router. */
export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** Options of a call that the page makes by itself, so that the list of requests leaves it out. */
export const background = { trpc: { context: { isBackground: true } } } as const;

/** The address of the store: the page's own, with any path prefix that a proxy adds. */
export function baseUrl(): string {
  return new URL('.', document.baseURI).href;
}
