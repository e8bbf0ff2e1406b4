import type { AppRouter } from '@plant-store/client';
import { createTRPCContext } from '@trpc/tanstack-react-query';

/** tRPC's adapter for TanStack Query, with the types of the store's router. */
export const { TRPCProvider, useTRPC, useTRPCClient } = createTRPCContext<AppRouter>();

/** Options of a call that the page makes by itself. The list of requests leaves out such a call. */
export const background = { trpc: { context: { isBackground: true } } } as const;

/** Returns the address of the store. It is the address of the page, including a path prefix of a proxy. */
export function baseUrl(): string {
  return new URL('.', document.baseURI).href;
}
