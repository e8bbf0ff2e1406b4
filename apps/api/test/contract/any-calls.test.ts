import { runSql } from '@plant-store/test-setup';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { shareServer } from '../fixtures/server.ts';
import { type Input, type Procedure, surfaces } from '../fixtures/surfaces.ts';

const server = shareServer();

interface Plant {
  id: bigint;
  name: string;
  tag?: string;
}

/** The plants that the store must have after the calls so far. */
let plants = new Map<bigint, Plant & { isReplaced?: true }>();

const one = { requiredKeys: ['id', 'name'] as ['id', 'name'] };
const far = [-(2n ** 63n), -(2n ** 53n) - 1n, 2n ** 53n + 1n, 2n ** 63n - 1n];
const id = fc.oneof(fc.bigInt(-3n, 3n), fc.constantFrom(...far));
const text = fc.string({ unit: 'binary' }).map((each) => each.replaceAll('\0', ''));
const name = fc.oneof(fc.constantFrom('', 'Hoya', 'CARNOSA hoya'), text);
const tag = fc.oneof(fc.constantFrom('', 'a&b=c d%20+', "'; --", '🌻 100%s'), text);
const plant = fc.record({ id, name, tag }, one);
const query = {
  tag,
  search: fc.constantFrom('HOYA', ' hoya\t nosa\n', 'hoya rose'),
  after: fc.oneof(id, id.map(String)),
  limit: fc.integer({ min: 1, max: 5 }),
};

/** Makes calls of a procedure. `expected` returns the right output or error code, and changes `plants`. */
function calls<Each extends Input>(
  procedure: Procedure,
  inputs: fc.Arbitrary<Each>,
  expected: (input: Each) => unknown,
) {
  return inputs.map((each) => {
    const input: Input = each;
    return { procedure, input, expected: () => expected(each) };
  });
}

const created = ({ id, ...content }: Plant) => {
  const stored = plants.get(id);
  if (!stored) plants.set(id, { id, ...content });
  else if (stored.name !== content.name || stored.tag !== content.tag) return 40900;
  return stored ? 'exists' : 'created';
};

/** Returns a plant in the form of a response. */
function storedPlant({ isReplaced, ...plant }: Plant & { isReplaced?: true }) {
  const time = expect.any(Date);
  return { ...plant, createdAt: time, ...(isReplaced && { updatedAt: time }) };
}

function found({ tag, search = '' }: { tag?: string; search?: string }) {
  const words = search.toLowerCase().split(/\s+/);
  return [...plants.values()]
    .filter((plant) => tag === undefined || plant.tag === tag)
    .filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const anyCall = fc.oneof(
  calls('createPlant', plant, ({ id, ...content }) =>
    created({ id, ...content }) === 40900 ? 40900 : content,
  ),
  calls('createPlants', fc.record({ plants: fc.array(plant, { minLength: 1 }) }), ({ plants }) => ({
    results: plants.map((each) => {
      const result = created(each);
      const error = { result: 'error', error: result, message: expect.any(String) };
      return { id: each.id, ...(result === 40900 ? error : { result }) };
    }),
  })),
  calls('getPlant', fc.record({ id }), ({ id }) => {
    const stored = plants.get(id);
    return stored ? storedPlant(stored) : 40401;
  }),
  calls('listPlants', fc.record(query, { requiredKeys: [] }), ({ after, limit = 100, ...rest }) => {
    const all = found(rest).filter(({ id }) => after === undefined || id > BigInt(after));
    const page = all.slice(0, limit);
    const next = all.length > limit && { next: String(page.at(-1)?.id) };
    return { plants: page.map(storedPlant), ...next };
  }),
  calls('countPlants', fc.record({ tag }, { requiredKeys: [] }), (query) => ({
    count: found(query).length,
    isExact: true,
  })),
  calls('replacePlant', plant, (replacement) => {
    if (!plants.has(replacement.id)) return 40401;
    plants.set(replacement.id, { ...replacement, isReplaced: true });
    return storedPlant({ ...replacement, isReplaced: true });
  }),
  calls('deletePlant', fc.record({ id }), ({ id }) => (plants.delete(id) ? undefined : 40401)),
);

it('random calls over REST and tRPC have the outcomes that the contract describes', async () => {
  const history = fc.array(fc.tuple(anyCall, fc.constantFrom(...surfaces)), {
    size: 'max',
    maxLength: 100,
  });
  const property = fc.asyncProperty(history, async (calls) => {
    plants = new Map();
    await runSql(server.databaseUrl, 'delete from plants');
    for (const [{ procedure, input, expected }, { call }] of calls) {
      const { output, error, message } = await call(server, procedure, input);
      const outcome = expected();
      if (typeof outcome === 'number') {
        expect([error, message]).toEqual([outcome, expect.stringContaining(String(input['id']))]);
      } else {
        const { etag, ...others } = Object(output);
        expect([error, others]).toStrictEqual([undefined, outcome ?? {}]);
      }
    }
  });
  await fc.assert(property, { numRuns: 20 });
});
