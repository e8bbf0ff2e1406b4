/** Says that the data directory cannot be used: another process has it open, or it is not writable. */
export class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
}
