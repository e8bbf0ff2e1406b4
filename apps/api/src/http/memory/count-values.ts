/** The number of values in a JSON text, or more when it has empty lists or objects. */
export function countValues(json: string): number {
  let count = 1;
  let isInText = false;
  for (let i = 0; i < json.length; i++) {
    const character = json.charCodeAt(i);
    if (character === quote) isInText = !isInText;
    else if (isInText && character === backslash) i++;
    else if (isInText) continue;
    else if (character === comma || character === bracket || character === brace) count++;
  }
  return count;
}

const [quote, backslash, comma, bracket, brace] = Buffer.from('"\\,[{');
