const number = new Intl.NumberFormat('en');

/** "1 plant", "2,000 plants"; with `+` when there are more than were counted. */
export function countOf(count: number, isExact = true): string {
  const text = `${number.format(count)}${isExact ? '' : '+'}`;
  return `${text} ${count === 1 ? 'plant' : 'plants'}`;
}
