/** The most levels of nesting that the JSON parsers of this project accept. */
export const maxJsonDepth = 500;

/**
 * Throws when a JSON value is nested more than 500 levels deep. Without a limit, recursive functions
 * would overflow the stack at a depth that varies. RFC 8259 §9 allows such a limit.
 *
 * @param extraLevels levels that an envelope around the value adds
 * @throws SyntaxError
 */
export function checkJsonDepth(value: unknown, extraLevels = 0): void {
  if (isDeeper(value, maxJsonDepth + extraLevels))
    throw new SyntaxError(`nested more than ${maxJsonDepth} levels deep`);
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((each) => isDeeper(each, levels - 1));
  // `Object.values` would copy the values, which takes longer. JSON has no inherited keys.
  const object = value as Record<string, unknown>; // Of JSON, which has text as its keys.
  for (const key in object) if (isDeeper(object[key], levels - 1)) return true;
  return false;
}
