import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseEnv } from 'node:util';

/**
 * Adds the settings of a `.env` file to the environment variables, and returns the variables. A variable that
 * is already set keeps its value, even if the value is empty. A relative path in `PLANT_STORE_DATA_DIR`
 * starts from the directory of the `.env` file.
 *
 * @param defaultPath the file to read when `PLANT_STORE_ENV_FILE` is not set. Only the default file may be
 *   missing.
 * @throws Error when the file cannot be read. The message names the file.
 */
export function loadEnvFile(defaultPath: string): NodeJS.ProcessEnv {
  const { env } = process; // An import of node:process is slow, and opens the standard streams.
  const named = env['PLANT_STORE_ENV_FILE'];
  const path = named || defaultPath;
  const settings = parseEnv(read(path, { mayBeAbsent: !named }));
  const dataDirectory = settings['PLANT_STORE_DATA_DIR'];
  if (dataDirectory) settings['PLANT_STORE_DATA_DIR'] = resolve(dirname(path), dataDirectory);
  for (const [name, value] of Object.entries(settings)) env[name] ??= value;
  return env;
}

/** Reads a file. `process.loadEnvFile` would report a file without read permission as absent. */
function read(path: string, { mayBeAbsent }: { mayBeAbsent: boolean }): string {
  try {
    return decode(readFileSync(path));
  } catch (cause) {
    // The cast is safe, because `readFileSync` throws only system errors.
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' && mayBeAbsent) return '';
    const remedy = mayBeAbsent
      ? 'make it a file that this user can read, or remove it'
      : 'set PLANT_STORE_ENV_FILE to a file that this user can read';
    throw new Error(`the settings in ${resolve(path)} cannot be read (${message}): ${remedy}`, {
      cause,
    });
  }
}

/** Decodes a text without its byte order mark. Windows PowerShell and Notepad write these marks, and UTF-16. */
function decode(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes);
}
