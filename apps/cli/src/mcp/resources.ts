import type { McpServer } from '@modelcontextprotocol/server';
import type { PlantStoreClient } from '@plant-store/client';
import { explainError, maxBytes, toJson, withTimeout } from './tool-result.ts';

/** Adds two resources: the number of plants, and `llms.txt`, which lists the pages of the documentation. */
export function addResources(server: McpServer, client: PlantStoreClient, url: string): void {
  const add = (name: string, mimeType: string, description: string, read: Read) =>
    server.registerResource(
      name,
      `plant-store://${name}`,
      { description, mimeType },
      async ({ href: uri }, { mcpReq: { signal } }) => {
        const text = await read(withTimeout(signal)).catch((error) => {
          throw new Error(toJson(explainError(error)));
        });
        return { contents: [{ uri, mimeType, text: text.slice(0, maxBytes) }] };
      },
    );
  add('numbers', 'application/json', 'How many plants the store has', async (signal) =>
    toJson(await client.countPlants.query({}, { signal })),
  );
  add('llms.txt', 'text/markdown', 'What the store does, and all its pages', async (signal) => {
    const response = await fetch(`${url.replace(/\/$/, '')}/llms.txt`, { signal });
    if (response.ok) return response.text();
    throw new Error(`the store responded to /llms.txt with the status ${response.status}`);
  });
}

type Read = (signal: AbortSignal) => Promise<string>;
