import { expect, it } from 'vitest';
import { connectAssistant, useServer } from '../fixtures/assistant.ts';
import { useDatabase } from '../fixtures/database.ts';

const database = useDatabase({ isShared: true, isMigrated: true });
const env = useServer(database);

it('returns at most 100 plants in at most 20 kB, and a cursor for the next plants', async () => {
  const { client, call } = await connectAssistant(env, { args: ['--write'] });
  const names = ['Hoya', '"'.repeat(300), '🪴'.repeat(200), '\u0001'.repeat(800)];
  const plants = Array.from({ length: 400 }, (_, i) => {
    const name = names[Math.floor(i / 100)] ?? '';
    return { id: String(1_000 + i), name, tag: i < 100 ? 'bounds' : name };
  });
  for (let i = 0; i < 400; i += 100) {
    const { results } = await call('create_plants', { plants: plants.slice(i, i + 100) });
    expect(results).toHaveLength(100);
  }
  const found: { id: string; name: string }[] = [];
  let after = '999';
  for (let next: string | undefined = after; next !== undefined; after = next ?? '') {
    const result = await client.callTool({ name: 'find_plants', arguments: { after: next } });
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(20_000);
    const page = Object(result.structuredContent);
    expect(page.plants.length).toBeLessThanOrEqual(100);
    found.push(...page.plants);
    next = page.next;
  }
  expect(found.slice(0, 400).map(({ id }) => id)).toEqual(plants.map(({ id }) => id));
  expect(found[250]).toMatchObject({ name: names[2] });
  expect(found[350]?.name).toBe(`${'\u0001'.repeat(700)}… (800 characters)`);
  const conflicts = plants.slice(0, 100).map((plant) => ({ ...plant, name: 'Pilea' }));
  const result = await client.callTool({ name: 'create_plants', arguments: { plants: conflicts } });
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(20_000);
  const { results, omitted } = Object(result.structuredContent);
  expect(results.length + omitted).toBe(100);
});

it('finds one plant among a million plants, and reports the progress of the search', async () => {
  await database.sql`
    insert into plants (id, name) select id, 'Hoya ' || id from generate_series(100001, 1100000) as id`;
  const { client, call } = await connectAssistant(env);
  expect(await call('count_plants')).toEqual({ count: 1_000_000, isExact: false });
  const progress: number[] = [];
  let found: unknown[] = [];
  let after: string | undefined = '100000';
  while (found.length === 0 && after !== undefined) {
    const result = await client.callTool(
      { name: 'find_plants', arguments: { search: 'hoya 1100000', after } },
      { onprogress: (each) => progress.push(each.progress) },
    );
    ({ plants: found, next: after } = Object(result.structuredContent));
  }
  expect(found).toMatchObject([{ id: '1100000', name: 'Hoya 1100000' }]);
  expect(progress[0]).toBe(1);
});
