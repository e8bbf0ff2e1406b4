import type { AppRouter } from '@plant-store/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';

/** tRPC's adapter for TanStack Query, with the types of the store's router. */
export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** Options for requests that no user caused, and that the console does not list. */
export const background = { trpc: { context: { isBackground: true } } } as const;

/** Returns the address of the store. If a proxy adds a path prefix, the address includes the prefix. */
export function baseUrl(): string {
  return new URL('.', document.baseURI).href;
}
