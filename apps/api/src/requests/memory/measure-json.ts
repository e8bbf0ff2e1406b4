/** Counts the values and levels of a text, which need not be JSON. An empty list counts as two values. */
export function measureJson(json: string) {
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
