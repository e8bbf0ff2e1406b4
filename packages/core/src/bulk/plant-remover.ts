import type { Verbs } from '../database/verbs.ts';
import { databaseCode } from '../error-causes.ts';
import { deletedColumns, noteDeletions } from '../plants/statements.ts';

export interface PlantRemover {
  /**
   * Deletes the plants with these ids in one statement and one commit, and returns the number of deleted
   * plants. Pass at most a few thousand ids.
   *
   * @throws PlantStoreError `databaseUnavailable`: the plants may be deleted. A second call would also delete
   *   new plants with the same ids.
   */
  deleteMany(ids: readonly bigint[]): Promise<number>;
}

/** The maximum number of attempts for a statement. The database undoes an attempt that deadlocks. */
const attempts = 5;

/** The SQLSTATE of a deadlock. */
const deadlock = '40P01';

const deleteAndNote = `
  with deleted as (
    delete from plants where id = any($1::bigint[]) returning ${deletedColumns}
  ), ${noteDeletions}
  select id from deleted`;

export function createPlantRemover({ write }: Pick<Verbs, 'write'>): PlantRemover {
  return {
    deleteMany: (ids) => remove(ids, attempts),
  };

  async function remove(ids: readonly bigint[], attemptsLeft: number): Promise<number> {
    // The ids are sorted, because two statements that lock rows in the same order do not deadlock.
    const values = [`{${ids.toSorted((a, b) => (a < b ? -1 : 1))}}`];
    try {
      return (await write(deleteAndNote, values, { share: 'bulk' })).count;
    } catch (error) {
      if (databaseCode(error) !== deadlock || attemptsLeft === 1) throw error;
      return remove(ids, attemptsLeft - 1);
    }
  }
}
