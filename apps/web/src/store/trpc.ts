import type { AppRouter } from '@plant-store/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';

/** tRPC's adapter for TanStack Query, with the types of the store's router. */
export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** Options for calls that no user caused. The console does not list their requests. */
export const background = { trpc: { context: { isBackground: true } } } as const;

/** Returns the address of the store, which is the address of the page with the path prefix of a proxy. */
export function baseUrl(): string {
  return new URL('.', document.baseURI).href;
}
