import { createServer } from 'node:http';
import { listen } from './environment.ts';

// This server shows the lowest CPU time in Node: it parses a body and writes a response, without a database.
const plant = { id: '4611686018427387904', name: 'Monstera deliciosa', tag: 'Araceae' };
const stored = { ...plant, createdAt: '2026-11-21T09:30:00.000Z' };
const page = (limit: number) =>
  JSON.stringify({ plants: Array(limit).fill(stored), next: plant.id });
const responses = { get: JSON.stringify(stored), list: page(100), longList: page(1000) };

const server = createServer((request, response) => {
  const send = (text: string) => {
    const headers = { 'content-type': 'application/json', 'content-length': text.length };
    response.writeHead(200, headers).end(text);
  };
  if (request.method === 'GET') {
    const { url = '' } = request;
    if (!url.includes('?')) return send(responses.get);
    return send(url.endsWith('=1000') ? responses.longList : responses.list);
  }
  let body = '';
  request.setEncoding('utf8').on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const { name, tag, plants = [] } = JSON.parse(body);
    const results = plants.map(({ id }: { id: number }) => ({ id, result: 'created' }));
    send(JSON.stringify(plants.length > 0 ? { results } : { name, tag }));
  });
});
await listen(server);
