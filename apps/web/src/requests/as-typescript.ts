import { operations } from '@plant-store/schemas';
import type { StoreRequest } from './request-history.ts';

/** Formats a request as a TypeScript module that uses tRPC. An environment variable contains the token. */
export function asTypeScript({ procedure, input }: StoreRequest, baseUrl: string): string {
  const verb = operations[procedure].method === 'GET' ? 'query' : 'mutate';
  return `import { createPlantStoreClient } from '@plant-store/client';

const store = createPlantStoreClient({
  url: ${JSON.stringify(baseUrl)},
  token: process.env['PLANT_STORE_TOKEN'] ?? '',
});

console.log(await store.${procedure}.${verb}(${literal(input)}));
`;
}

function literal(input: StoreRequest['input']): string {
  const properties = Object.entries(input).map(
    ([key, value]) => `${key}: ${typeof value === 'bigint' ? `${value}n` : JSON.stringify(value)}`,
  );
  return properties.length > 0 ? `{ ${properties.join(', ')} }` : '{}';
}
