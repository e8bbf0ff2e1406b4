import type { ListPlants, PlantPage } from '@plant-store/schemas';
import { int64Bounds } from '@plant-store/schemas/plain';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import type { CallOptions } from '../database/deadline.ts';
import { databaseUnavailable, isStatementError, toStoreError } from '../database/errors.ts';
import { arrayText } from './content.ts';
import { type OutputText, PageText, PlantText } from './output-text.ts';
import { plantTexts, valuesOf } from './plant-json.ts';
import {
  countPlants,
  countPlantsOfTag,
  findNothing,
  findPlants,
  maxPageBytes,
  searchAll,
  searchTag,
  selectPageOfAll,
  selectPageOfTag,
  selectPagesOfAll,
  selectPagesOfTag,
} from './statements.ts';

type Get = Call<bigint, PlantText | undefined>;
type List = Call<ListPlants, OutputText<PlantPage>>;

/** The number of plants that fill a statement for lists. */
const maxPlants = 1_000;

/**
 * Makes the functions that read plants. Gets that wait at the same time share a statement, and so do lists,
 * because sending a statement takes longer than reading a plant or a page.
 */
export function createReads({ read }: Pick<Database, 'read'>) {
  const gets = new Batcher<bigint, PlantText | undefined>({
    what: 'gets',
    send: getTogether,
    late: databaseUnavailable,
    running: 2,
    batch: 32,
  });
  const lists = new Batcher<ListPlants, OutputText<PlantPage>>({
    what: 'lists',
    send: listTogether,
    late: databaseUnavailable,
    running: 2,
    batch: 128,
    sizeOf: ({ limit }) => limit,
    size: maxPlants,
  });

  return {
    get: (id: bigint, options?: CallOptions) => gets.run(id, options),

    async list(query: ListPlants, options: CallOptions = {}): Promise<OutputText<PlantPage>> {
      if (query.after === int64Bounds.maximum) return new PageText([]);
      if (query.search === undefined) return lists.run(query, options);
      return search(query, query.search, options);
    },

    /** Counts plants up to a limit. */
    async countUpTo(limit: number, tag: string | undefined, options: CallOptions = {}) {
      const [text, values] =
        tag === undefined ? [countPlants(limit), []] : [countPlantsOfTag(limit), [tag]];
      const { rows } = await read<[string]>(text, values, { ...options, kind: 'counts' });
      return Number(rows[0]?.[0]);
    },

    /** Resolves when the database responds and has the table. */
    async ready(): Promise<void> {
      await read(findNothing, [], { kind: 'reads' });
    },
  };

  async function getTogether(calls: readonly Get[]): Promise<void> {
    const ids = new Set(calls.map(({ input }) => input));
    const deadline = Math.max(...calls.map((call) => call.deadline));
    try {
      const { rows } = await read<(string | null)[]>(findPlants, [`{${[...ids]}}`], {
        kind: 'reads',
        calls,
        deadline,
      });
      const [columns = []] = rows;
      const [found, etags] = [valuesOf(columns[0]), valuesOf(columns.at(-1))];
      const plants = new Map(
        plantTexts(columns).map((json, i) => [
          found[i],
          new PlantText(json, (etags[i] ?? '').slice(1, -1)),
        ]),
      );
      for (const call of calls) call.resolve(plants.get(String(call.input)));
    } catch (error) {
      for (const call of calls) call.reject(toStoreError(error));
    }
  }

  /** Pages of the same size and with the same kind of condition share a statement. */
  async function listTogether(calls: readonly List[]): Promise<void> {
    const groups = Map.groupBy(calls, ({ input }) => `${input.limit} ${input.tag === undefined}`);
    await Promise.all([...groups.values()].map(readTogether));
  }

  /**
   * Reads pages with one statement. Together, the plants of these pages have at most 1 MiB. A page with a larger
   * plant gets its own statement.
   */
  async function readTogether(calls: readonly List[]): Promise<void> {
    const inputs = calls.map(({ input }) => input);
    const { limit = 0, tag } = inputs[0] ?? {};
    const maxBytes = maxPageBytes / (calls.length === 1 ? limit : maxPlants);
    const deadline = Math.max(...calls.map((call) => call.deadline));
    try {
      const { rows } = await read<[isSmall: boolean, ...Columns]>(
        tag === undefined ? selectPagesOfAll : selectPagesOfTag,
        [
          `{${inputs.map(lowest)}}`,
          arrayText(inputs.map((input) => input.tag)),
          String(limit),
          String(Math.floor(maxBytes)),
        ],
        { kind: 'reads', calls, deadline },
      );
      for (const [i, call] of calls.entries()) {
        const [isSmall, ...columns] = rows[i] ?? [];
        call.resolve(isSmall ? pageOf(columns, limit) : await readAlone(call));
      }
    } catch (error) {
      // Perhaps the database rejects the tag of one call.
      if (calls.length > 1 && isStatementError(error)) {
        await Promise.all(calls.map((call) => readTogether([call])));
      }
      for (const call of calls) call.reject(toStoreError(error));
    }
  }

  async function readAlone({ input, deadline }: List): Promise<OutputText<PlantPage>> {
    const { tag, limit } = input;
    const values = [lowest(input), String(limit)];
    const { rows } = await read<[found: number, ...Columns]>(
      tag === undefined ? selectPageOfAll : selectPageOfTag,
      tag === undefined ? values : [...values, tag],
      { kind: 'reads', deadline },
    );
    const [[found = 0, ...columns] = []] = rows;
    return pageOf(columns, limit, found);
  }

  /** Reads a page of a search. It may have few plants, because a search reads a limited number of plants. */
  async function search(
    query: ListPlants,
    words: string,
    options: CallOptions,
  ): Promise<OutputText<PlantPage>> {
    const { tag, limit } = query;
    const values = [lowest(query), String(limit), patternsOf(words)];
    const { rows } = await read<[found: number, ...Columns]>(
      tag === undefined ? searchAll : searchTag,
      tag === undefined ? values : [...values, tag],
      { ...options, kind: 'searches' },
    );
    const [[found = 0, ...columns] = []] = rows;
    return pageOf(columns.slice(0, -1), limit, found, columns.at(-1));
  }
}

type Columns = (string | null)[];

/**
 * Makes a page from the columns of its plants, and perhaps of one further plant.
 *
 * @param found the number of plants that were found, if the columns do not have all of them
 * @param last the id after which the next page begins, if no further plant was found
 */
function pageOf(columns: Columns, limit: number, found?: number, last?: string | null) {
  const plants = plantTexts(columns);
  const size = Math.min(plants.length, limit);
  const next = (found ?? plants.length) > size ? valuesOf(columns[0])[size - 1] : last;
  return new PageText(plants.slice(0, size), next ?? undefined);
}

/** The lowest id of a page. */
function lowest({ after }: ListPlants): string {
  return String(after === undefined ? int64Bounds.minimum : after + 1n);
}

/** Makes a pattern for LIKE from each word of a search. */
function patternsOf(words: string): string {
  const patterns = words.split(/\s+/).map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`);
  return arrayText(patterns);
}
