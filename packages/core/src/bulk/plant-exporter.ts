import { plantColumns } from '@plant-store/schemas/plain';
import type { CopySession, Database } from '../database/database.ts';
import { orUnavailable, toStoreError } from '../database/database-error.ts';

/** The columns of an export. */
export const exportColumns = Object.values(plantColumns).map(({ name }) => name);

export type ExportColumn = (typeof exportColumns)[number];

/** The plants and the format of an export. Without any property, all plants are exported in CSV. */
export interface ExportQuery {
  /**
   * A format of Postgres's COPY (https://www.postgresql.org/docs/current/sql-copy.html). In `csv`, there is
   * no header, an empty text is `""`, and a missing value is an empty field. In `text`, each row is one line.
   */
  readonly format?: 'csv' | 'text' | undefined;
  /** Default: all. Times are in UTC. */
  readonly columns?: readonly ExportColumn[] | undefined;
  /** Only plants with this tag. */
  readonly tag?: string | undefined;
  /** Only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /**
   * Whether to read pages, each with its own snapshot. A plant that exists the whole time is exported exactly
   * once. A plant that is created or deleted meanwhile may or may not be exported.
   */
  readonly isPaged?: boolean | undefined;
}

/** An export that is open. */
export interface PlantExport {
  /** The approximate number of plants. Undefined when it is unknown. */
  readonly estimate: number | undefined;
  /**
   * The plants, ascending by id, in blocks of any size. In the format `text`, a block has whole lines.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  readonly rows: AsyncGenerator<Uint8Array>;
  /** Ends the export at any time. The promise is never rejected. */
  close(): Promise<void>;
}

export interface PlantExporter {
  /**
   * Exports the plants that are committed when it begins, and nothing that is committed later. Memory
   * use does not grow with their number. On a server this is one statement, and its snapshot keeps
   * vacuum from removing rows that are deleted meanwhile. The caller closes the export at the end.
   *
   * @throws PlantStoreError `databaseUnavailable`
   */
  export(query?: ExportQuery): Promise<PlantExport>;
}

/** The most plants in a page. */
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
  const conditions = [...tagCondition(tag), ...sinceCondition(since)];
  const select = (more: string[] = []) =>
    `select ${columns.join(', ')} ${fromPlants([...conditions, ...more])}`;
  if (!isPaged) return session.copyOut(select(), format);
  return readPages();

  async function* readPages() {
    let after: string[] = [];
    for (;;) {
      const page = `select id ${fromPlants([...conditions, ...after])} limit ${pageSize}`;
      const last = await readText(session, `select max(id) from (${page}) as page`);
      if (last === noValue) return;
      yield* session.copyOut(select([...after, `id <= ${last}`]), format);
      after = [`id > ${last}`];
    }
  }
}

function fromPlants(conditions: string[]): string {
  const where = conditions.length > 0 ? `where ${conditions.join(' and ')} ` : '';
  return `from plants ${where}order by id`;
}

/** The text that COPY writes for a missing value. */
const noValue = '\\N';

/** Reads one value. */
async function readText(session: CopySession, select: string): Promise<string> {
  const blocks = await Array.fromAsync(session.copyOut(select, 'text'));
  return Buffer.concat(blocks).toString().trimEnd();
}

/** Compares tags and their hashes, because the index on tags contains hashes. */
function tagCondition(tag: string | undefined): string[] {
  if (tag === undefined) return [];
  const text = literal(tag);
  return [`hashtextextended(tag, 0) = hashtextextended(${text}, 0)`, `tag = ${text}`];
}

function sinceCondition(since: Date | undefined): string[] {
  return since ? [`created_at >= ${literal(since.toISOString())}`] : [];
}

/** Makes an SQL literal, because COPY takes no parameters. In `E'…'`, no setting changes the backslash. */
function literal(text: string): string {
  return `e'${text.replace(/['\\]/g, '$&$&')}'`;
}

/** Reads Postgres's own estimate, which VACUUM and ANALYZE update. Before the first of them, it is −1. */
async function estimatePlants(session: CopySession): Promise<number | undefined> {
  const select = `select reltuples::bigint from pg_class where oid = 'plants'::regclass`;
  const estimate = Number(await readText(session, select));
  return estimate > 0 ? estimate : undefined;
}
