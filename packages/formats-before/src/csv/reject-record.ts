import { type CsvHeader, isOfRejectsFile } from './header.ts';
import { withoutReturn } from './parser.ts';

/** Formats rejected rows as CSV. The columns `line` and `reason` come before the unchanged row. */
export function rejectFormat(header: CsvHeader) {
  const { delimiter, text } = header;
  const isRejectsFile = isOfRejectsFile(header);
  const prefix = new RegExp(`^(${fieldPattern(delimiter)}[${codeOf(delimiter)}]){2}`, 's');
  const withoutPrefix = (row: string) => (isRejectsFile ? row.replace(prefix, '') : row);
  const separator = [',', ';', '\t', '|'].includes(delimiter) ? '' : `sep=${delimiter}\n`;
  const names = ['line', 'reason', withoutPrefix(text)].join(delimiter);

  return {
    header: `${separator}${names}\n`,
    record(line: number, reason: string, row: string): string {
      const quoted = `"${reason.replaceAll('"', '""')}"`;
      return `${[line, quoted, withoutReturn(withoutPrefix(row))].join(delimiter)}\n`;
    },
  };
}

function fieldPattern(delimiter: string): string {
  return `(?:"(?:[^"]|"")*"|[^"${codeOf(delimiter)}]*)`;
}

/** Formats a character for a regular expression. */
function codeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
