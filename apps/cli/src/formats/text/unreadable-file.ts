import { usageError } from '../../command-line/errors.ts';

const saveAsCsv = 'save it as CSV (UTF-8) in the spreadsheet program';
const unpack = 'unpack it first';

/** Files that are no text, by their first bytes in hexadecimal. */
const signatures = {
  '504b0304': `is a ZIP archive, or a spreadsheet such as .xlsx or .ods: unpack it, or ${saveAsCsv}`,
  d0cf11e0: `is an Excel workbook: ${saveAsCsv}`,
  '425a68': `is compressed by bzip2: ${unpack}`,
  fd377a585a: `is compressed by xz: ${unpack}`,
  '377abcaf': `is a 7z archive: ${unpack}`,
  '1f8b': `is compressed twice: ${unpack}`,
  '25504446': 'is a PDF: import the data from which it was made',
  '50415231': 'is a Parquet file: convert it to CSV or NDJSON',
  '53514c69746520': 'is an SQLite database: export its table as CSV',
};

/** @throws CommandError when the first bytes of a file show that it is no text */
export function checkIsText(head: Buffer): void {
  const start = head.toString('hex', 0, 8);
  for (const [signature, hint] of Object.entries(signatures)) {
    if (start.startsWith(signature)) throw usageError(`the file ${hint}`);
  }
  if (head.toString('latin1', 257, 262) === 'ustar') {
    throw usageError(`the file is a tar archive: ${unpack}`);
  }
}

/** @throws CommandError when a decoded text has so many zeros that its encoding must be another */
export function checkHasNoZeros(head: Buffer): void {
  const zeros = head.filter((byte) => byte === 0).length;
  if (zeros * 8 <= head.length || zeros === 0) return;
  throw usageError(
    'the file is no text, or is UTF-16 without a byte order mark: for the latter, add --encoding utf-16le or utf-16be',
  );
}
