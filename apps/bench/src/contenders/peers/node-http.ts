import { createServer } from 'node:http';
import { listen } from './environment.ts';

// This is the fastest possible server in Node. The server only parses the body and writes a response.
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const { name, tag } = JSON.parse(body);
    const plant = JSON.stringify({ name, tag });
    const headers = { 'content-type': 'application/json', 'content-length': plant.length };
    response.writeHead(200, headers).end(plant);
  });
});
await listen(server);
