import { plantColumns } from '@plant-store/schemas/plain';
import type { CopySession, Database } from '../database/database.ts';
import { orUnavailable, toStoreError } from '../database/database-error.ts';
import { whereOf } from '../plants/pages.ts';

export const exportColumns = Object.values(plantColumns).map(({ name }) => name);

export type ExportColumn = (typeof exportColumns)[number];

/** The options of an export. Without options, an export contains all plants as CSV. */
export interface ExportQuery {
  /**
   * A format of Postgres's COPY (https://www.postgresql.org/docs/current/sql-copy.html). In the format `csv`,
   * there is no header, an empty text is `""`, and the field of a missing value is empty. In the format
   * `text`, each row is one line.
   */
  readonly format?: 'csv' | 'text' | undefined;
  /** Default: all. Times are in UTC. */
  readonly columns?: readonly ExportColumn[] | undefined;
  /** Selects only plants with this tag. */
  readonly tag?: string | undefined;
  /** Selects only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /**
   * Whether the export reads the plants in pages. Each page has its own snapshot. The export contains each
   * plant that exists during the whole export, exactly once. A plant that is created or deleted during the
   * export may be missing.
   */
  readonly isPaged?: boolean | undefined;
}

export interface PlantExport {
  /** The approximate number of plants. Undefined when the number is unknown. */
  readonly estimate: number | undefined;
  /**
   * The plants, sorted by id, in blocks of any size. In the format `text`, each block contains only whole
   * lines. Throws the PlantStoreError `databaseUnavailable`.
   */
  readonly rows: AsyncGenerator<Uint8Array>;
  /** Ends the export, even before all rows are read. The promise is never rejected. */
  close(): Promise<void>;
}

export interface PlantExporter {
  /**
   * Exports exactly the plants that are committed when the export begins. The export does not need more
   * memory for more plants. On a server, the export is one statement. Until the statement ends, vacuum cannot
   * remove the rows that were deleted after the start of the statement. The caller must close the export.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  export(query?: ExportQuery): Promise<PlantExport>;
}

const pageSize = 50_000;

export function createPlantExporter(database: Pick<Database, 'openCopies'>): PlantExporter {
  return {
    async export(query = {}) {
      const session = await orUnavailable(database.openCopies());
      try {
        const isAll = query.tag === undefined && query.since === undefined;
        const estimate = isAll ? await orUnavailable(estimatePlants(session)) : undefined;
        return { estimate, rows: withStoreErrors(rowsOf(session, query)), close: session.close };
      } catch (error) {
        await session.close();
        throw error;
      }
    },
  };
}

async function* withStoreErrors(rows: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* rows;
  } catch (error) {
    throw toStoreError(error);
  }
}

function rowsOf(session: CopySession, query: ExportQuery): AsyncGenerator<Uint8Array> {
  const { tag, since, isPaged, columns = exportColumns, format = 'csv' } = query;
  const conditions = { tag: literal(tag), since: literal(since?.toISOString()) };
  const select = (selected: readonly string[], ids: Parameters<typeof whereOf>[0] = {}) =>
    `select ${selected} from plants ${whereOf({ ...conditions, ...ids })} order by id`;
  if (!isPaged) return session.copyOut(select(columns), format);
  return readPages();

  async function* readPages() {
    let after: string | undefined;
    for (;;) {
      const page = `${select(['id'], { after })} limit ${pageSize}`;
      const last = await readText(session, `select max(id) from (${page}) as page`);
      if (last === noValue) return;
      const upTo = literal(last);
      yield* session.copyOut(select(columns, { after, upTo }), format);
      after = upTo;
    }
  }
}

/** The text that COPY writes for a missing value. */
const noValue = '\\N';

/** Runs a query, and returns the text of its only value. */
async function readText(session: CopySession, select: string): Promise<string> {
  const blocks = await Array.fromAsync(session.copyOut(select, 'text'));
  return Buffer.concat(blocks).toString().trimEnd();
}

/**
 * Makes an SQL literal, because a COPY statement cannot have parameters. In the form `E'…'`, no setting of
 * the server changes the meaning of a backslash.
 */
function literal(text: string | undefined): string | undefined {
  return text === undefined ? undefined : `e'${text.replace(/['\\]/g, '$&$&')}'`;
}

/** Reads Postgres's estimate of the number of plants, which is −1 before the first VACUUM or ANALYZE. */
async function estimatePlants(session: CopySession): Promise<number | undefined> {
  const select = `select reltuples::bigint from pg_class where oid = 'plants'::regclass`;
  const estimate = Number(await readText(session, select));
  return estimate > 0 ? estimate : undefined;
}
