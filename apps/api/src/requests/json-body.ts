import { isUtf8 } from 'node:buffer';
import { PlantStoreError } from '@plant-store/core';
import { parseJson } from '@plant-store/schemas';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkBodyHeaders } from './headers.ts';
import { isLarge } from './limits.ts';

type Read = (text: string) => unknown;

/**
 * Makes the routes of a Fastify scope read JSON bodies.
 *
 * @param read parses the text of a body, or throws
 * @param levelsAround returns the levels of nesting that the surface adds around the input
 */
export function parseJsonBodies(
  scope: FastifyInstance,
  read: Read,
  levelsAround: (request: FastifyRequest) => number = () => 0,
): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    (request, body: Buffer, done) => {
      let value: unknown;
      try {
        checkBodyHeaders(request);
        if (!isUtf8(body)) throw bodyNotJson('it is not UTF-8');
        value = readJsonText(body.toString(), read, levelsAround(request));
      } catch (error) {
        return done(error as Error); // The cast is safe, because the parser throws only errors.
      }
      // The check of a large input may take as long as its parsing. Other requests continue before the check.
      if (isLarge(body.length)) setImmediate(done, null, value);
      else done(null, value);
    },
  );
}

/** @throws PlantStoreError `bodyNotJson`, or `bodyTooLarge` when the text has too many values */
export function readJsonText(text: string, read: Read, levelsAround = 0): unknown {
  if (text.length > maxLevels) checkJsonSize(text, maxLevels + levelsAround);
  try {
    return read(text);
  } catch (cause) {
    if (cause instanceof PlantStoreError) throw cause;
    throw bodyNotJson(cause instanceof Error ? cause.message : 'it cannot be read', cause);
  }
}

export function bodyNotJson(why: string, cause?: unknown): PlantStoreError {
  return new PlantStoreError('bodyNotJson', `the body is not JSON (${why}): send one JSON value`, {
    cause,
  });
}

export function isObject(body: unknown): body is Record<string, unknown> {
  return typeof body === 'object' && body !== null && !Array.isArray(body);
}

/**
 * Reads the input of a tRPC or MCP request. An empty text means that there is no input. A fraction that
 * `JSON.parse` would round to an integer becomes NaN. An integer beyond ±(2^53−1) becomes a number, and not a
 * `bigint`. The schema rejects NaN, and numbers beyond ±(2^53−1).
 */
export function readJson(text: string): unknown {
  return text === '' ? undefined : parseJson(text, Number);
}

/** The maximum depth of nesting in an input. RFC 8259 §9 allows a limit of nesting. */
const maxLevels = 500;

/**
 * The maximum number of values in a body. All other requests wait while the server parses a body. The limit
 * allows a tRPC request with ten batches of 1,000 plants.
 */
const maxValues = 64_000;

/** Rejects a text with too many values or levels before the server parses it. */
function checkJsonSize(text: string, mostLevels: number): void {
  const { values, levels } = measureJson(text);
  if (levels > mostLevels) throw bodyNotJson(`nested more than ${maxLevels} levels deep`);
  if (values <= maxValues) return;
  const message = `the body has over ${maxValues} values: send fewer plants or other values in one call`;
  throw new PlantStoreError('bodyTooLarge', message);
}

/** Counts the values and levels of a text, which need not be JSON. An empty list counts as two values. */
function measureJson(json: string) {
  let values = 1;
  let levels = 0;
  let level = 0;
  let isInText = false;
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i);
    if (character === quote) isInText = !isInText;
    else if (isInText && character === backslash) i++;
    else if (isInText) continue;
    else if (character === comma) values++;
    else if (character === bracket || character === brace) {
      values++;
      if (++level > levels) levels = level;
    } else if (level > 0 && (character === closingBracket || character === closingBrace)) level--;
  }
  return { values, levels };
}

const [quote, backslash, comma, bracket, brace, closingBracket, closingBrace] =
  Buffer.from('"\\,[{]}');
