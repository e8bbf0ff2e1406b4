import { and, eq, gt, gte, type SQL, sql } from 'drizzle-orm';
import { plants, tagHash } from '../database/tables.ts';

/** The conditions of a query on plants, whose values are placeholders. */
export const conditions: Record<'after' | 'tag' | 'since', SQL | undefined> = {
  after: gt(plants.id, sql.placeholder('after')),
  tag: and(
    eq(tagHash(plants.tag), tagHash(sql`${sql.placeholder('tag')}::text`)),
    // For two plain conditions, the planner expects so few rows that it sorts all rows of a frequent tag.
    sql`case when ${plants.tag} = ${sql.placeholder('tag')} then true end`,
  ),
  since: gte(plants.createdAt, sql.placeholder('since')),
};
