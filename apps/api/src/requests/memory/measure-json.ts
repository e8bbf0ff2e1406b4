/** The size of a JSON text. */
interface JsonSize {
  /** The number of values. An empty list or object counts as two. */
  readonly values: number;
  /** The number of nesting levels. */
  readonly levels: number;
}

/** Measures a JSON text. The text need not be valid. */
export function measureJson(json: string): JsonSize {
  let values = 1;
  let levels = 0;
  let level = 0;
  let isInText = false;
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i);
    if (character === quote) isInText = !isInText;
    else if (isInText && character === backslash) i++;
    else if (isInText) continue;
    else if (character === comma) values++;
    else if (character === bracket || character === brace) {
      values++;
      if (++level > levels) levels = level;
    } else if (level > 0 && (character === closingBracket || character === closingBrace)) level--;
  }
  return { values, levels };
}

const [quote, backslash, comma, bracket, brace, closingBracket, closingBrace] =
  Buffer.from('"\\,[{]}');
