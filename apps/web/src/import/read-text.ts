/** A piece of a file's text. */
export interface TextPiece {
  text: string;
  /** How many bytes of the file it was. */
  bytes: number;
}

/**
 * Reads a file of any size piece by piece. Skips a byte order mark.
 *
 * @throws TypeError when the file is not UTF-8
 */
export async function* readText(file: Blob): AsyncGenerator<TextPiece> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const reader = file.stream().getReader();
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      if (value) yield { text: decoder.decode(value, { stream: true }), bytes: value.length };
    }
    yield { text: decoder.decode(), bytes: 0 };
  } finally {
    await reader.cancel();
  }
}
