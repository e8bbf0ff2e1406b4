import {
  type CountPlants,
  int64Bounds,
  type ListPlants,
  maxExactCount,
  type PlantCount,
  type PlantPage,
} from '@plant-store/schemas';
import { Batcher, type Call } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import { type CallOptions, type Deadline, deadlineOf } from '../database/deadline.ts';
import { sendUntilSettled } from '../database/send-again.ts';
import { arrayText } from './content.ts';
import { OutputText, type PlantText, plantsOf } from './output-text.ts';
import { plantColumns, plantTexts, valuesOf } from './plant-json.ts';
import * as sql from './statements.ts';

type Get = Call<bigint, PlantText | undefined>;
type List = Call<ListPlants, OutputText<PlantPage> | undefined>;
type Columns = (string | null)[];

/** A statement takes lists until the sum of their limits reaches this number. */
const maxPlants = 1_000;

/**
 * Makes the functions that read plants. Waiting calls of `get` share a statement, and so do similar waiting
 * calls of `list`. Sending a statement takes longer than reading a page.
 */
export function createReads({ read }: Pick<Database, 'read'>) {
  const gets = new Batcher<bigint, PlantText | undefined>({
    send: getTogether,
    running: 2,
    startAt: 32,
  });
  const lists = new Batcher<ListPlants, OutputText<PlantPage> | undefined>({
    send: listTogether,
    running: 2,
    startAt: 128,
    sizeOf: ({ limit }) => limit,
    size: maxPlants,
  });

  let readiness: Promise<unknown> | undefined;

  return {
    get: (id: bigint, options?: CallOptions) => gets.run(id, options),

    async list(query: ListPlants, options: CallOptions = {}): Promise<OutputText<PlantPage>> {
      if (query.after === int64Bounds.maximum) return pageOf([], 0);
      const call = { ...options, deadline: deadlineOf(options) };
      if (query.search !== undefined) return readAlone(query, { ...call, kind: 'searches' });
      // The page is undefined if it may exceed 1 MiB: see `readPages`.
      const page = await lists.run(query, call);
      return page ?? readAlone(query, { ...call, kind: 'reads' });
    },

    async count({ tag }: CountPlants, options: CallOptions = {}): Promise<PlantCount> {
      const [text, values] =
        tag === undefined ? [sql.countPlants, []] : [sql.countPlantsOfTag, [tag]];
      const { rows } = await read<[string]>(text, values, { ...options, kind: 'counts' });
      const counted = Number(rows[0]?.[0]);
      return { count: Math.min(counted, maxExactCount), isExact: counted <= maxExactCount };
    },

    /**
     * Resolves when the database responds and has the table. Concurrent calls share one query, so that
     * queries do not accumulate while the database does not respond.
     */
    async ready(): Promise<void> {
      readiness ??= read(sql.findNothing, [], { kind: 'reads' }).finally(() => {
        readiness = undefined;
      });
      await readiness;
    },
  };

  async function getTogether(calls: readonly Get[], deadline: Deadline): Promise<void> {
    const ids = new Set(calls.map(({ input }) => input));
    const { rows } = await read<Columns>(sql.findPlants, [`{${[...ids]}}`], {
      kind: 'reads',
      sharedBy: calls,
      deadline,
    });
    const [columns = []] = rows;
    const found = valuesOf(columns[0]);
    const plants = new Map(plantsOf(columns).map((plant, i) => [found[i], plant]));
    for (const call of calls) call.resolve(plants.get(String(call.input)));
  }

  /** For each limit, sends one statement for lists with a tag, and one for other lists. Never rejects. */
  async function listTogether(calls: readonly List[]): Promise<void> {
    const groups = Map.groupBy(calls, ({ input }) => `${input.limit} ${input.tag === undefined}`);
    const sent = [...groups.values()].map((group) => sendUntilSettled(group, { send: readPages }));
    await Promise.all(sent);
  }

  /**
   * Reads pages of at most 2 MiB together by one statement. The output for a page with a plant larger than
   * `maxPlantBytes` is undefined, and `list` then reads this page alone.
   */
  async function readPages(calls: readonly List[], deadline: Deadline): Promise<void> {
    const inputs = calls.map(({ input }) => input);
    const { limit = 0, tag } = inputs[0] ?? {};
    const maxPlantBytes = sql.maxPageBytes / (calls.length === 1 ? limit : maxPlants);
    const { rows } = await read<[isSmall: boolean, ...Columns]>(
      tag === undefined ? sql.selectPagesOfAll : sql.selectPagesOfTag,
      [
        `{${inputs.map(lowest)}}`,
        arrayText(inputs.map((input) => input.tag)),
        String(limit),
        String(Math.floor(maxPlantBytes)),
      ],
      { kind: 'reads', sharedBy: calls, deadline },
    );
    for (const [i, call] of calls.entries()) {
      const [isSmall, ...columns] = rows[i] ?? [];
      call.resolve(isSmall ? pageOf(columns, limit) : undefined);
    }
  }

  /** Reads a page whose plants may be large, or a page of a search. */
  async function readAlone(
    query: ListPlants,
    options: CallOptions & { readonly kind: 'reads' | 'searches' },
  ): Promise<OutputText<PlantPage>> {
    const { tag, limit, search } = query;
    const [ofAll, ofTag, words] =
      search === undefined
        ? [sql.selectPageOfAll, sql.selectPageOfTag, []]
        : [sql.searchPageOfAll, sql.searchPageOfTag, [patternsOf(search)]];
    const { rows } = await read<[found: number, ...Columns]>(
      tag === undefined ? ofAll : ofTag,
      [lowest(query), String(limit), ...words, ...(tag === undefined ? [] : [tag])],
      options,
    );
    const [[found = 0, ...columns] = []] = rows;
    return pageOf(columns, limit, found);
  }
}

export type Reads = ReturnType<typeof createReads>;

/**
 * Makes a page from the columns of its plants. The columns may have one further plant.
 *
 * @param found the number of plants found, for a page that was read alone. In a search, the last column may be the
 *   id after which the next page begins.
 */
function pageOf(columns: Columns, limit: number, found?: number): OutputText<PlantPage> {
  const last = found === undefined ? null : columns.at(-1);
  const write = (quote: string) => {
    const all = plantTexts(columns, quote);
    const plants = all.slice(0, limit);
    const hasMore = (found ?? all.length) > plants.length;
    const next = hasMore ? /-?\d+/.exec(plants.at(-1) ?? '')?.[0] : last;
    return `{"plants":[${plants}${next ? `],"next":"${next}"}` : ']}'}`;
  };
  // No number and no time contains `null`, so `null` means that a plant lacks the property.
  const lacking = (column: string | null, i: number) =>
    plantColumns[i]?.type !== 'string' && column?.includes('null') && column;
  const shape = () => `${limit} ${columns[0]?.split(',').length} ${columns.map(lacking)}`;
  return new OutputText(write, (place) => `plants.${place}.`, shape);
}

/** The lowest id that a page may have. */
function lowest({ after }: ListPlants): string {
  return String(after === undefined ? int64Bounds.minimum : after + 1n);
}

/** Makes a pattern for LIKE from each word of a search. */
function patternsOf(words: string): string {
  const patterns = words.split(/\s+/).map((word) => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`);
  return arrayText(patterns);
}
