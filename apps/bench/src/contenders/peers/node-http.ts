import { createServer } from 'node:http';
import { listen } from './environment.ts';

// The limit of a server on Node: it parses the body and writes a reply, and does nothing else.
const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => {
    body += chunk;
  });
  request.on('end', () => {
    const { name, tag } = JSON.parse(body);
    const reply = JSON.stringify({ name, tag });
    const headers = { 'content-type': 'application/json', 'content-length': reply.length };
    response.writeHead(200, headers).end(reply);
  });
});
await listen(server);
