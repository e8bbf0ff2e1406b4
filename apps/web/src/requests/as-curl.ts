import { formatJson } from '@plant-store/schemas';
import type { StoreRequest } from './store-request.ts';

/** The same request over REST, as a command for a POSIX shell. The token comes from a variable. */
export function asCurl({ procedure, input }: StoreRequest, baseUrl: string): string {
  const { method, path, body } = restRequest(procedure, input);
  const address = quote(new URL(path, baseUrl).href);
  const parts = [
    `curl ${method === 'DELETE' ? '-X DELETE ' : ''}${address}`,
    '-H "Authorization: Bearer $PLANT_STORE_TOKEN"',
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${quote(body)}`]),
  ];
  return parts.join(' \\\n  ');
}

function restRequest(procedure: string, { id, ...input }: StoreRequest['input']) {
  if (procedure === 'createPlant') {
    return { method: 'POST', path: 'plants', body: formatJson({ id, ...input }) };
  }
  if (procedure === 'listPlants') {
    const query = new URLSearchParams(
      Object.entries(input).map(([key, value]) => [key, `${value}`]),
    );
    return { method: 'GET', path: query.size > 0 ? `plants?${query}` : 'plants' };
  }
  return { method: procedure === 'deletePlant' ? 'DELETE' : 'GET', path: `plants/${id}` };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
