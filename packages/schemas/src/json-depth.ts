/** Levels of nesting that every reader of JSON in this project accepts. */
const maxDepth = 500;

/**
 * Throws for JSON that is nested more than 500 levels deep, because recursive functions overflow the
 * stack at a depth that varies. RFC 8259 §9 lets a reader set such a limit.
 *
 * @param extraLevels levels that an envelope around the JSON adds
 * @throws SyntaxError
 */
export function checkJsonDepth(value: unknown, extraLevels = 0): void {
  if (isDeeper(value, maxDepth + extraLevels))
    throw new SyntaxError(`nested more than ${maxDepth} levels deep`);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1));
}
