import { FileError } from './file-error.ts';

export const saveAsCsv = 'save it as CSV (UTF-8) in the spreadsheet program';
const unpack = 'unpack it first';

/** The error messages for files that are not text. Each key is the first bytes of a file in hexadecimal. */
const signatures = {
  '504b0304': `is a ZIP archive, or a spreadsheet such as .xlsx or .ods: unpack it, or ${saveAsCsv}`,
  d0cf11e0: `is an Excel workbook: ${saveAsCsv}`,
  '28b52ffd': `is compressed by zstd: ${unpack}`,
  '502a4d18': `is compressed by zstd or lz4 in several parts: ${unpack}`,
  '04224d18': `is compressed by lz4: ${unpack}`,
  '425a68': `is compressed by bzip2: ${unpack}`,
  fd377a585a: `is compressed by xz: ${unpack}`,
  '377abcaf': `is a 7z archive: ${unpack}`,
  '1f8b': `is compressed twice: ${unpack}`,
  '25504446': 'is a PDF: import the data from which it was made',
  '50415231': 'is a Parquet file: convert it to CSV or NDJSON',
  '53514c69746520': 'is an SQLite database: export its table as CSV',
};

/** @throws FileError when the first bytes of a file show that it is not text */
export function checkIsText(head: Uint8Array): void {
  const start = Array.from(head.subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0'));
  for (const [signature, hint] of Object.entries(signatures)) {
    if (start.join('').startsWith(signature)) throw new FileError(`the file ${hint}`);
  }
  if (String.fromCharCode(...head.subarray(257, 262)) === 'ustar') {
    throw new FileError(`the file is a tar archive: ${unpack}`);
  }
}

/**
 * @param advice says how a person can read a file in UTF-16
 * @throws FileError when a decoded text contains too many zeros, which shows a wrong encoding
 */
export function checkHasNoZeros(head: Uint8Array, advice: string): void {
  const zeros = head.filter((byte) => byte === 0).length;
  if (zeros * 8 <= head.length || zeros === 0) return;
  const reason = 'the file is not text, or is UTF-16 without a byte order mark';
  throw new FileError(`${reason}: for the latter, ${advice}`);
}
