import type { DatabaseState } from '@plant-store/core/operator';
import type { Finding } from './finding.ts';

const check = 'durability';

export const embeddedDurability: Finding[] = [
  {
    check,
    level: 'warning',
    message:
      'the embedded database may lose plants in a power cut: ' +
      'set DATABASE_URL to a Postgres if that matters',
  },
];

export function postgresDurability(state: DatabaseState): Finding[] {
  const { fsync, fullPageWrites, synchronousCommit } = state;
  const risks = [
    fsync === 'off' && 'fsync is off, so a crash of the machine may destroy the database',
    fullPageWrites === 'off' && 'full_page_writes is off, so a power cut may damage the database',
    synchronousCommit === 'off' &&
      'synchronous_commit is off, so a crash may lose the newest plants',
  ].filter((risk) => risk !== false);
  if (risks.length === 0) {
    const message = `fsync and full_page_writes are on, synchronous_commit is ${synchronousCommit}`;
    return [{ check, level: 'ok', message }];
  }
  return risks.map((risk) => ({ check, level: 'problem', message: `${risk}: set it to on` }));
}
