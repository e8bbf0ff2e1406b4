import { inspect } from 'node:util';

/** The names of pino's levels that a person must notice. */
const levelNames: Record<number, string> = { 40: 'WARNING ', 50: 'ERROR ', 60: 'FATAL ' };

/**
 * Turns a line of the log into a readable line. The line of a request becomes
 * `09:30:00 POST /plants 200 3.1 ms`. Other lines become the level, the message and further fields. Text that
 * is not JSON, such as the welcome, does not change.
 */
export function terminalLine(line: string): string {
  if (!line.startsWith('{')) return line;
  const { level, time, pid, hostname, msg, ...fields } = JSON.parse(line);
  const text = msg === 'request' ? requestText(fields) : messageText(level, msg, fields);
  return `${new Date(time).toTimeString().slice(0, 8)} ${withoutControls(text)}\n`;
}

function requestText(fields: Record<string, unknown>): string {
  const { method, path, status, responseTime, errorCode, errorCodes = errorCode } = fields;
  const codes = errorCode ? ` (error ${errorCodes})` : '';
  return `${method} ${path} ${status}${codes} ${responseTime} ms`;
}

function messageText(level: number, message: string, fields: object): string {
  const hasFields = Object.keys(fields).length > 0;
  const details = hasFields ? ` ${inspect(fields, { depth: 8, breakLength: Infinity })}` : '';
  return `${levelNames[level] ?? ''}${message}${details}`;
}

/** Replaces control characters, so that a client cannot control the terminal with a text. */
function withoutControls(text: string): string {
  return text.replaceAll(
    /[\p{Cc}\p{Cf}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
