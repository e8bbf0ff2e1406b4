/**
 * Copies all plants into an SQLite database, and follows the changes.
 *
 *   PLANT_STORE_TOKEN=plant_… npx -y pnpm exec node examples/rest/copy-plants.ts plants.sqlite
 */
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { type ExactIds, parseJson } from '@plant-store/schemas';
import type { components } from './plant-store.d.ts';

type Schemas = ExactIds<components['schemas']>;

const [file = 'plants.sqlite'] = process.argv.slice(2);
const plants = `${process.env['PLANT_STORE_URL'] ?? 'http://127.0.0.1:3000'}/plants`;
const headers = { authorization: `Bearer ${process.env['PLANT_STORE_TOKEN']}` };

const copy = new DatabaseSync(file);
copy.exec(`
  CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT, tag TEXT, created_at TEXT);
  CREATE TABLE IF NOT EXISTS position (cursor TEXT);`);
const insert = copy.prepare('INSERT OR REPLACE INTO plants VALUES (?, ?, ?, ?)');
const remove = copy.prepare('DELETE FROM plants WHERE id = ?');
const readPosition = copy.prepare('SELECT cursor FROM position');
const insertPosition = copy.prepare('INSERT INTO position VALUES (?)');

/** An error response. */
class Rejected extends Error {
  readonly status: number;

  constructor(status: number, body: string) {
    super(body);
    this.status = status;
  }
}

for (let seconds = 1; ; ) {
  try {
    const cursor = readPosition.get()?.['cursor'];
    await (typeof cursor === 'string' ? readChanges(cursor) : listPlants());
    seconds = 1;
  } catch (error) {
    // Without a response, the store or the network is down. The program then retries, as after status 503.
    const status = error instanceof Rejected ? error.status : 503;
    if (status === 410)
      copy.exec('DELETE FROM position'); // The cursor has expired: list the plants again.
    else if (status < 500 && ![408, 429].includes(status)) throw error;
    await setTimeout(seconds * (1 + Math.random()) * 1000);
    seconds = Math.min(seconds * 2, 60);
  }
}

async function readChanges(after: string): Promise<void> {
  const query = { after, limit: 1000, wait: 20 };
  const { changes, next } = await get<Schemas['PlantChanges']>('/changes', query);
  // One transaction stores the changes and the cursor.
  await transaction(async () => {
    for (const { type, plant } of changes) {
      if (type === 'created') store(plant);
      else remove.run(plant.id);
    }
    setPosition(next);
  });
}

async function listPlants(): Promise<void> {
  // Reads the cursor before the list, so changes during the list come after the cursor.
  const { next: cursor } = await get<Schemas['PlantChanges']>('/changes', {});
  await transaction(async () => {
    copy.exec('DELETE FROM plants');
    for (let after: bigint | number | undefined; ; ) {
      const query = { limit: 1000, ...(after !== undefined && { after }) };
      const page = await get<Schemas['PlantPage']>('', query);
      page.plants.forEach(store);
      after = page.next;
      if (after === undefined) break;
    }
    setPosition(cursor);
  });
}

function store({ id, name, tag, createdAt }: Schemas['StoredPlant']): void {
  insert.run(id, name, tag ?? null, createdAt);
}

function setPosition(cursor: string): void {
  copy.exec('DELETE FROM position');
  insertPosition.run(cursor);
}

async function transaction(write: () => Promise<void>): Promise<void> {
  copy.exec('BEGIN');
  try {
    await write();
    copy.exec('COMMIT');
  } catch (error) {
    copy.exec('ROLLBACK');
    throw error;
  }
}

async function get<T>(path: string, query: Record<string, unknown>): Promise<T> {
  const parameters = Object.entries(query).map(([name, value]) => `${name}=${value}`);
  // With `wait`, the store responds after at most 25 seconds.
  const signal = AbortSignal.timeout(30_000);
  const response = await fetch(`${plants}${path}?${parameters.join('&')}`, { headers, signal });
  const text = await response.text();
  if (!response.ok) throw new Rejected(response.status, text);
  return parseJson(text) as T; // The OpenAPI document declares `T`.
}
