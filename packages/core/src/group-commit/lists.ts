import type { ListPlants, PlantPage } from '@plant-store/schemas';
import { maxPageSize } from '@plant-store/schemas/plain';
import type { Database } from '../database/database.ts';
import { databaseUnavailable, isStatementError, toStoreError } from '../database/errors.ts';
import { databaseCode } from '../error-causes.ts';
import { PlantStoreError } from '../plant-store-error.ts';
import { reservePage } from '../plants/page-memory.ts';
import type { PlantReader } from '../plants/plant-reader.ts';
import {
  maxSmallBytes,
  type SmallPageRow,
  selectSmallPages,
  smallPageOf,
  smallPageValues,
} from '../plants/small-pages.ts';
import type { Call } from './call.ts';
import { Coalescer } from './coalescer.ts';

type List = Call<ListPlants, PlantPage>;

/**
 * Makes the function `list` of the store. Lists that wait at the same time share a statement, because sending
 * a statement takes longer than reading a page.
 *
 * @param listAlone reads one list with one statement: a search, or a page with large plants
 */
export function createLists(
  { read, connections }: Pick<Database, 'read' | 'connections'>,
  listAlone: PlantReader['list'],
): PlantReader['list'] {
  /** The time at which the database last returned pages. */
  let lastPages = Number.NEGATIVE_INFINITY;
  const overloaded = () => new PlantStoreError('overloaded', tooManyWait);
  const lists = new Coalescer<ListPlants, PlantPage>({
    send: async (calls) => {
      const groups = Map.groupBy(calls, ({ input: { after, tag, limit } }) =>
        [limit, after === undefined, tag === undefined].join(),
      );
      await Promise.all([...groups.values()].map(readTogether));
    },
    // If the database has returned pages while the call waited, other lists caused the delay, and the error
    // is `overloaded`.
    late: ({ madeAt }, isSent) =>
      !isSent && lastPages > madeAt ? overloaded() : databaseUnavailable(),
    overloaded,
    maxInFlight: connections.reads,
    lengthOf: ({ limit }) => limit,
    maxLength: maxPageSize,
    // After a longer wait, the database would end the list at the time limit.
    maxWait: 0.8,
  });

  return (query, options) =>
    query.search === undefined ? lists.run(query, options) : listAlone(query, options);

  /**
   * Reads several pages with one statement. All pages have the same size and the same kinds of conditions.
   */
  async function readTogether(calls: readonly List[]): Promise<void> {
    const pages = calls.flatMap(reserve);
    const inputs = pages.map(({ call }) => call.input);
    const [first] = inputs;
    if (!first) return;
    const deadline = Math.max(...pages.map(({ call }) => call.deadline));
    try {
      const { rows } = await read(selectSmallPages(first), smallPageValues(inputs), {
        kind: 'reads',
        deadline,
      });
      lastPages = performance.now();
      for (const [i, [isSmall, ...columns]] of (rows as SmallPageRow[]).entries()) {
        const asked = pages[i];
        if (!asked) continue;
        const page = isSmall ? smallPageOf(columns, first.limit) : undefined;
        asked.settle(page?.bytes ?? 0);
        if (page) asked.call.resolve(page.output);
        else void readAlone(asked.call);
      }
    } catch (error) {
      const isOwnError = isStatementError(error) && databaseCode(error) !== '57014';
      for (const { call, settle } of pages) {
        settle(0);
        if (isOwnError) void readAlone(call);
        else call.reject(toStoreError(error));
      }
    }
  }

  /**
   * Reserves the memory for a small page. When too little memory is free, the list gets its own statement.
   */
  function reserve(call: List) {
    const { limit } = call.input;
    const page = reservePage(call.caller, limit, limit * maxSmallBytes);
    // A settled call has already given its memory back.
    const settle = (bytes: number) => call.isSettled || page.settle(bytes);
    try {
      page.onTurn();
      return [{ call, settle }];
    } catch {
      void readAlone(call);
      return [];
    }
  }

  async function readAlone(call: List): Promise<void> {
    if (call.isSettled) return;
    call.sentAt = undefined;
    await listAlone(call.input, call).then(
      (page) => call.resolve(page),
      (error) => call.reject(error),
    );
  }
}

const tooManyWait = 'too many lists are waiting already: send the request again later';
