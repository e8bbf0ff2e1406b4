/** The header of a column, and a function that formats the column's cell in a row. */
export type Column<Row> = readonly [header: string, cell: (row: Row) => string];

/** Formats rows as text. The first column is aligned to the left, and the other columns to the right. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const aligned = columns.map(([header, cell], column) => {
    const texts = rows.map(cell);
    const width = Math.max(header.length, ...texts.map((text) => text.length));
    const pad = (text: string) => (column === 0 ? text.padEnd(width) : text.padStart(width));
    return [pad(header), '─'.repeat(width), ...texts.map(pad)];
  });
  const lines = ['header', 'rule', ...rows].map((_, line) => aligned.map((column) => column[line]));
  return lines.map((cells) => cells.join('  ').trimEnd()).join('\n');
}

/** Formats a number with thousands separators and a fixed number of decimals. NaN becomes a dash. */
export function decimal(value: number, digits = 0): string {
  if (Number.isNaN(value)) return '–';
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString('en', format);
}
