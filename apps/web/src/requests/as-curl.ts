import { formatJson, operations } from '@plant-store/schemas';
import type { StoreRequest } from './request-history.ts';

/** Formats a request as a `curl` command for a POSIX shell. An environment variable contains the token. */
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

function restRequest(procedure: StoreRequest['procedure'], input: StoreRequest['input']) {
  const { method, path } = operations[procedure];
  const rest = new Map(Object.entries(input));
  const address = path.slice(1).replaceAll(/\{(\w+)\}/g, (_braces, name) => {
    const value = encodeURIComponent(`${rest.get(name)}`);
    rest.delete(name);
    return value;
  });
  if (method === 'POST')
    return { method, path: address, body: formatJson(Object.fromEntries(rest)) };
  const query = new URLSearchParams([...rest].map(([name, value]) => [name, `${value}`]));
  return { method, path: query.size > 0 ? `${address}?${query}` : address };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
