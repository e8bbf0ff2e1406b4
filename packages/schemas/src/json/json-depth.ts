/** The most levels of nesting that the JSON parsers of this project accept. */
const maxDepth = 500;

/**
 * Throws when a JSON value is nested more than 500 levels deep. Without a limit, recursive functions
 * would overflow the stack at a depth that varies. RFC 8259 §9 allows such a limit.
 *
 * @param extraLevels levels that an envelope around the value adds
 * @throws SyntaxError
 */
export function checkJsonDepth(value: unknown, extraLevels = 0): void {
  if (isDeeper(value, maxDepth + extraLevels))
    throw new SyntaxError(`nested more than ${maxDepth} levels deep`);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const each of Object.values(value)) if (isDeeper(each, levels - 1)) return true;
  return false;
}
