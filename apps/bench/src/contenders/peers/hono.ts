import { serve } from '@hono/node-server';
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import { bearerAuth } from 'hono/bearer-auth';
import { accessToken, address } from './environment.ts';
import { insertPlant, NewPlant } from './plants.ts';

// https://hono.dev/docs/middleware/builtin/bearer-auth and https://hono.dev/docs/guides/validation
const app = new Hono();
app.post('/plants', bearerAuth({ token: accessToken }), zValidator('json', NewPlant), async (c) => {
  const { id, ...plant } = c.req.valid('json');
  await insertPlant({ id, ...plant });
  return c.json(plant);
});

// https://hono.dev/docs/getting-started/nodejs
serve({ fetch: app.fetch, hostname: address.host, port: address.port }, ({ port }) => {
  console.log(`http://${address.host}:${port}`);
});
