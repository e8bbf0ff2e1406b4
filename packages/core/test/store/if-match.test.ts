import { describe, expect, it } from 'vitest';
import type { PlantStore } from '../../src/index.ts';
import { holdOpen, openForSuite } from '../fixtures/open-store.ts';
import { freeId } from '../fixtures/plants.ts';
import { profiles } from '../fixtures/profiles.ts';

type Write = (store: PlantStore, id: bigint, ifMatch: string) => Promise<unknown>;

const replace: Write = (store, id, ifMatch) => store.replace(id, { name: 'Pilea' }, { ifMatch });
const remove: Write = (store, id, ifMatch) => store.delete(id, { ifMatch });

describe.each(profiles.filter(({ hasSql }) => hasSql))('ifMatch on $name', (profile) => {
  const suite = openForSuite(profile);

  it.each([
    ['a replacement', replace],
    ['a delete', remove],
  ])('rejects %s that waits for another write with the same ETag', async (_, write) => {
    const { store, sql } = suite;
    const id = freeId();
    await store.create({ id, name: 'Hoya' });
    const etag = (await store.get(id))?.etag ?? '';
    const release = await holdOpen(sql, `select from plants where id = ${id} for update`);
    const waiting = () => sql.unsafe(profile.selectLockWaits);
    const first = replace(store, id, etag);
    await expect.poll(waiting).toHaveLength(1);
    const second = expect(write(store, id, etag)).rejects.toMatchObject({
      kind: 'preconditionFailed',
      code: 41200,
    });
    await expect.poll(waiting).toHaveLength(2);
    await release();
    await second;
    expect(await first).toMatchObject({ name: 'Pilea' });
    expect(await store.get(id)).toEqual(await first);
  });
});
