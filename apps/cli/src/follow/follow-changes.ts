import { setTimeout } from 'node:timers/promises';
import { explainDatabaseError } from '@plant-store/core/operator';
import { cursorsOf, type OpenPlantReader, PlantStoreError } from '@plant-store/core/read';
import { createPlantWriter } from '@plant-store/formats';
import { isTemporary } from '@plant-store/schemas/plain';
import { interruptible } from '../command-line/bulk-command.ts';
import { CommandError, usageError } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';
import { withReader } from '../command-line/with-store.ts';
import { formatListCursor, type StartingPoint, startingPointSyntax } from './starting-point.ts';

const needs = { plants: ['SELECT'], plant_deletions: ['SELECT'], plant_feed: ['SELECT'] } as const;

/**
 * Writes the changes of the store to standard output, until a signal interrupts the command or the reader
 * closes the pipe.
 *
 * @throws CommandError after an interruption, and when the feed cannot continue
 */
export async function followChanges(from: StartingPoint, tag?: string): Promise<void> {
  await interruptible(interrupted, async (signal) => {
    await withReader((reader) => writeOutput(linesOf(reader, from, tag, signal)), {
      needs,
      onPrimary: true,
    });
    signal.throwIfAborted();
  });
}

const interrupted = 'interrupted: to go on, run follow --from with the cursor of the last line';

/** Yields lines until a signal arrives. The signal never interrupts a write, so the last line is complete. */
async function* linesOf(
  reader: OpenPlantReader,
  { cursor, list }: StartingPoint,
  tag: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  try {
    // A wrong setting makes this first call throw an error. Later calls wait while the database is down.
    const { next } = await reader.changes({ after: cursor, limit: 1 });
    const after = cursor ?? next;
    const outage = createOutageWarning();
    if (list) {
      const query = { after: list.after, tag };
      for await (const plants of listPlants(reader, query, signal, outage.begin)) {
        outage.end();
        const lines = plants.map((each) => line('created', each, formatListCursor(after, each.id)));
        yield lines.join('');
        if (signal.aborted) return;
      }
    } else if (!cursor) {
      yield `{"cursor":"${after}"}\n`;
    }
    for await (const page of reader.follow({ after, tag, signal, onError: outage.begin })) {
      outage.end();
      const cursors = cursorsOf(page);
      yield page.changes.map(({ type, plant }, i) => line(type, plant, cursors[i])).join('');
    }
  } catch (error) {
    if (!signal.aborted) throw explained(error);
  }
}

const { row } = createPlantWriter('ndjson');

/** A cursor contains only characters that need no escapes in JSON. */
function line(type: string, plant: object, cursor: string | undefined): string {
  return `{"type":"${type}","plant":${row(plant).trimEnd()},"cursor":"${cursor}"}\n`;
}

/** The milliseconds between an error of the list and the next attempt. */
const retryDelay = 500;

/** Lists the plants, and continues after a temporary error, as `follow` does. */
async function* listPlants(
  reader: OpenPlantReader,
  { after, tag }: { after: bigint | undefined; tag: string | undefined },
  signal: AbortSignal,
  onError: (error: unknown) => void,
) {
  let last = after;
  for (;;) {
    try {
      for await (const plants of reader.read({ after: last, tag })) {
        yield plants;
        last = plants.at(-1)?.id;
      }
      return;
    } catch (error) {
      if (!(error instanceof PlantStoreError) || !isTemporary(error.kind)) throw error;
      onError(error);
      await setTimeout(retryDelay, undefined, { signal });
    }
  }
}

/** Writes one warning to stderr for each outage of the database. */
function createOutageWarning() {
  let isDown = false;
  return {
    begin(error: unknown) {
      if (isDown) return;
      isDown = true;
      const reason = explainDatabaseError(error);
      process.stderr.write(
        `plant-store: warning: ${reason}; the command goes on when the database responds\n`,
      );
    },
    end() {
      isDown = false;
    },
  };
}

/** Says what to do about an error of the feed. Leaves the errors of the database to `toCommandError`. */
function explained(error: unknown): unknown {
  if (!(error instanceof PlantStoreError)) return error;
  const { kind, message, code } = error;
  if (kind === 'databaseUnavailable') return error;
  if (kind === 'invalidInput') return usageError(`--from ${startingPointSyntax}`);
  const advice = kind === 'cursorExpired' ? ' with follow --from start' : '';
  return new CommandError(message + advice, { code });
}
