import { createServer, type IncomingHttpHeaders } from 'node:http';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { ORPCError, os } from '@orpc/server';
import { accessToken, listen } from './environment.ts';
import * as plants from './plants.ts';

// https://orpc.dev/docs/openapi/getting-started
const authorized = os.$context<{ headers: IncomingHttpHeaders }>().use(({ context, next }) => {
  if (context.headers.authorization !== `Bearer ${accessToken}`)
    throw new ORPCError('UNAUTHORIZED');
  return next();
});

const createPlant = authorized
  .route({ method: 'POST', path: '/plants' })
  .input(plants.NewPlant)
  .output(plants.Plant)
  .handler(async ({ input }) => {
    await plants.insertPlant(input);
    return input;
  });

const createPlants = authorized
  .route({ method: 'POST', path: '/plants/batch' })
  .input(plants.NewPlants)
  .output(plants.CreateResults)
  .handler(({ input }) => plants.insertPlants(input));

const getPlant = authorized
  .route({ method: 'GET', path: '/plants/{id}' })
  .input(plants.PlantId)
  .output(plants.StoredPlant)
  .handler(async ({ input }) => {
    const plant = await plants.selectPlant(input);
    if (!plant) throw new ORPCError('NOT_FOUND');
    return plant;
  });

const listPlants = authorized
  .route({ method: 'GET', path: '/plants' })
  .input(plants.ListPlants)
  .output(plants.PlantPage)
  .handler(({ input }) => plants.selectPage(input));

const handler = new OpenAPIHandler({ createPlant, createPlants, getPlant, listPlants });

// https://orpc.dev/docs/adapters/http
const server = createServer(async (req, res) => {
  const { matched } = await handler.handle(req, res, { context: { headers: req.headers } });
  if (!matched) res.writeHead(404).end();
});
await listen(server);
