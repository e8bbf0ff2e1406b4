/** Levels of nesting that every reader of JSON here takes. */
const maxDepth = 500;

/**
 * Refuses JSON that is nested more than 500 levels deep: functions that walk it recursively fail at
 * a depth that nobody can tell beforehand. RFC 8259 §9 leaves such a limit to the reader.
 *
 * @param wrapping levels to allow on top, for what is wrapped around the JSON that counts
 * @throws SyntaxError
 */
export function refuseDeepJson(value: unknown, wrapping = 0): void {
  if (isDeeper(value, maxDepth + wrapping))
    throw new SyntaxError(`nested more than ${maxDepth} levels deep`);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
