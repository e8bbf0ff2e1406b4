/** Formats a number with thousands separators and a fixed number of decimals. */
export function decimal(value: number, digits = 0): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return value.toLocaleString('en', format);
}
