/** The file, or the rest of it, cannot be read. The message has the line, the reason and the advice. */
export class FileError extends Error {
  override readonly name = 'FileError';
  /** `encoding`: another encoding may help. */
  readonly kind: 'encoding' | 'format' | 'header' | 'quote' | 'gzip' | 'length';
  /** The end of a sentence about the line or the file, such as `is not UTF-8`. */
  readonly reason: string;
  readonly advice: string;
  /** Undefined when the fault is in no certain line. */
  readonly line: number | undefined;

  constructor(kind: FileError['kind'], reason: string, advice: string, line?: number) {
    super(`${line === undefined ? 'the file' : `line ${line}`} ${reason}: ${advice}`);
    this.kind = kind;
    this.reason = reason;
    this.advice = advice;
    this.line = line;
  }
}
