import type { NewPlant } from '@plant-store/schemas';

/** Plants as lines of COPY's text format (https://www.postgresql.org/docs/current/sql-copy.html). */
export function copyText(plants: readonly NewPlant[]): string {
  let lines = '';
  for (const { id, name, tag } of plants) {
    lines += `${id}\t${escaped(name)}\t${tag === undefined ? '\\N' : escaped(tag)}\n`;
  }
  return lines;
}

const special = /[\\\t\n\r]/g;
const escapes: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return text.search(special) < 0 ? text : text.replace(special, (each) => escapes[each] ?? each);
}
