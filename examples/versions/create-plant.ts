/** A program that uses the client. The tests run this program on Deno and on Bun. */
import { createPlantStoreClient, plantStoreError } from '@plant-store/client';

const { PLANT_STORE_URL: url = '', PLANT_STORE_TOKEN: token = '' } = process.env;
const { createPlant, getPlant } = createPlantStoreClient({ url, token });
const id = 9007199254740993n;
await createPlant.mutate({ id, name: 'Hoya carnosa' });
await getPlant.query({ id });
const taken = await createPlant.mutate({ id, name: 'Ficus lyrata' }).catch(plantStoreError);
console.log(`created ${id}, then ${taken && 'kind' in taken && taken.kind}`);
