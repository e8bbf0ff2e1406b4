/** Which plants; all of them when every property is omitted. */
export interface PlantCondition {
  /** Only plants with this tag. */
  readonly tag?: string | undefined;
  /** Only plants that were created at this time or later. */
  readonly since?: Date | undefined;
  /** Only plants with greater ids. */
  readonly after?: bigint | undefined;
}

/** The WHERE clause of a statement on plants, and the values of its parameters. */
export function whereClause({ tag, since, after }: PlantCondition): {
  where: string;
  values: string[];
} {
  const values: string[] = [];
  const conditions: string[] = [];
  if (after !== undefined) conditions.push(`id > $${values.push(String(after))}`);
  if (tag !== undefined) {
    const text = `$${values.push(tag)}::text`;
    conditions.push(
      `hashtextextended(tag, 0) = hashtextextended(${text}, 0)`,
      // For two plain conditions, the planner expects so few rows that it sorts all rows of a frequent tag.
      `case when tag = ${text} then true end`,
    );
  }
  if (since) conditions.push(`created_at >= $${values.push(since.toISOString())}`);
  return { where: conditions.length > 0 ? `where ${conditions.join(' and ')}` : '', values };
}
