import { createServer, type IncomingHttpHeaders } from 'node:http';
import { OpenAPIHandler } from '@orpc/openapi/node';
import { ORPCError, os } from '@orpc/server';
import { accessToken, address } from './environment.ts';
import {
  insertPlant,
  ListPlants,
  NewPlant,
  Plant,
  PlantId,
  PlantPage,
  StoredPlant,
  selectPage,
  selectPlant,
} from './plants.ts';

// https://orpc.dev/docs/openapi/getting-started
const authorized = os.$context<{ headers: IncomingHttpHeaders }>().use(({ context, next }) => {
  if (context.headers.authorization !== `Bearer ${accessToken}`)
    throw new ORPCError('UNAUTHORIZED');
  return next();
});

const createPlant = authorized
  .route({ method: 'POST', path: '/plants' })
  .input(NewPlant)
  .output(Plant)
  .handler(async ({ input }) => {
    await insertPlant(input);
    return input;
  });

const getPlant = authorized
  .route({ method: 'GET', path: '/plants/{id}' })
  .input(PlantId)
  .output(StoredPlant)
  .handler(async ({ input }) => {
    const plant = await selectPlant(input);
    if (!plant) throw new ORPCError('NOT_FOUND');
    return plant;
  });

const listPlants = authorized
  .route({ method: 'GET', path: '/plants' })
  .input(ListPlants)
  .output(PlantPage)
  .handler(({ input }) => selectPage(input));

const handler = new OpenAPIHandler({ createPlant, getPlant, listPlants });

// https://orpc.dev/docs/adapters/http
const server = createServer(async (req, res) => {
  const { matched } = await handler.handle(req, res, { context: { headers: req.headers } });
  if (!matched) res.writeHead(404).end();
});
server.listen(address.port, address.host, () => {
  const bound = server.address();
  console.log(`http://${address.host}:${typeof bound === 'object' && bound?.port}`);
});
