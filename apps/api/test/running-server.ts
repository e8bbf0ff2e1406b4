import { cpSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { openPlantStore, type PlantStore } from '@plant-store/core';
import { createDatabase } from '@plant-store/test-setup';
import postgres from 'postgres';
import { inject } from 'vitest';
import { acceptJwts, type JwtSettings } from '../src/jwt.ts';
import { buildServer, type ServerOptions } from '../src/server.ts';

export type DatabaseName = 'PGlite' | 'Postgres';

export interface Row {
  id: bigint;
  name: string;
  tag: string | null;
}

export interface RunningServer {
  url: string;
  token: string;
  store: PlantStore;
  /** Where its database is; undefined on PGlite. */
  databaseUrl: string | undefined;
  /** Every line of the log so far. */
  log: string[];
  /** How many connections are open. */
  connections(): Promise<number>;
  /** Stops the server and returns the rows of its table, in order of id. */
  stop(): Promise<Row[]>;
}

const token = 'test-token';

interface StartOptions extends Partial<ServerOptions> {
  /** In place of the store's own, to fail in ways that no database can be brought to. */
  create?: PlantStore['create'];
  jwts?: JwtSettings;
}

/** Starts the server on a real socket, with an empty database of its own. */
export async function startServer(
  database: DatabaseName,
  options: StartOptions = {},
): Promise<RunningServer> {
  const { storeOptions, rows } = database === 'PGlite' ? await embedded() : await onPostgres();
  const opened = await openPlantStore(storeOptions);
  opened.accessTokens.trust('tester', token);
  const { stop, ...server } = await startServerOn(opened, options);
  return {
    ...server,
    databaseUrl: 'databaseUrl' in storeOptions ? storeOptions.databaseUrl : undefined,
    async stop() {
      await stop();
      await opened.close();
      return rows();
    },
  };
}

/** Starts another server on the store of one that runs, and leaves the store open. */
export async function startServerOn(
  opened: PlantStore,
  { create, jwts, ...options }: StartOptions = {},
) {
  const failing = create ? { ...opened, create } : opened;
  const store = jwts ? acceptJwts(failing, jwts) : failing;
  const log: string[] = [];
  const server = await buildServer({
    logStream: { write: (line) => log.push(line) },
    ...options,
    store,
  });
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  return {
    url,
    token,
    store,
    log,
    connections: promisify(server.server.getConnections).bind(server.server),
    async stop() {
      server.server.closeAllConnections();
      await server.close();
    },
  };
}

const select = 'select id::text, name, tag from plants order by plants.id';

async function embedded() {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'plant-store-api-'));
  cpSync(inject('dataDirectory'), dataDirectory, { recursive: true });
  const rows = async () => {
    const database = await PGlite.create(join(dataDirectory, 'postgres'));
    const { rows } = await database.query<TextRow>(select);
    await database.close();
    await rm(dataDirectory, { recursive: true });
    return rows.map(withBigint);
  };
  return { storeOptions: { dataDirectory }, rows };
}

async function onPostgres() {
  const databaseUrl = await createDatabase(inject('postgresUrl'));
  const rows = async () => {
    const sql = postgres(databaseUrl);
    const rows = await sql.unsafe<TextRow[]>(select);
    await sql.end();
    return rows.map(withBigint);
  };
  return { storeOptions: { databaseUrl }, rows };
}

type TextRow = Omit<Row, 'id'> & { id: string };

const withBigint = ({ id, ...row }: TextRow): Row => ({ id: BigInt(id), ...row });
