import type postgres from 'postgres';
import { idFactor, storedPlants } from '../load/ids.ts';

/** Among a million names, ten names begin with this word. */
export const rareGenus = 'Xanthosoma';

/**
 * Adds a million plants to an empty table. Half of the plants have a tag. If `every` is 10, adds only each
 * tenth plant.
 */
export async function addMillionPlants(sql: postgres.Sql, every = 1): Promise<void> {
  await sql`
    insert into plants (id, name, tag)
    select mod(n * ${String(idFactor)}::numeric + 2::numeric ^ 63, 2::numeric ^ 64) - 2::numeric ^ 63 as id,
      case when n % 100000 = 0 then ${rareGenus} else genera[1 + n % 6] end || ' ' || epithets[1 + n % 7],
      case when n / 2 % 2 = 0 then families[1 + n % 6] end
    from generate_series(0, ${storedPlants - 1}::bigint, ${every}::bigint) as n, (values (
      array['Monstera', 'Ficus', 'Hoya', 'Calathea', 'Dracaena', 'Phalaenopsis'],
      array['Araceae', 'Moraceae', 'Apocynaceae', 'Marantaceae', 'Asparagaceae', 'Orchidaceae'],
      array['deliciosa', 'elastica', 'carnosa', 'orbifolia', 'fragrans', 'amabilis', 'alba']
    )) as words (genera, families, epithets)
    order by id`;
  await sql`vacuum analyze plants`;
}
