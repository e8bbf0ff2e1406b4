import { setTimeout } from 'node:timers/promises';
import { makeCertificate } from '@plant-store/test-setup';
import { type PlantsDatabase, setSetting } from '../faults/plants-database.ts';

/** The authority that signs the certificates. */
export const authority = makeCertificate('Authority');

/** Makes a running database use a new certificate, which expires after `lifetime` milliseconds. */
export async function useCertificate(database: PlantsDatabase, lifetime?: number): Promise<void> {
  const { certificate, key } = makeCertificate('127.0.0.1', authority, lifetime);
  for (const [kind, pem] of Object.entries({ cert: certificate, key })) {
    const lines = `select unnest(string_to_array('${pem.trim()}', E'\n'))`;
    const program = `umask 077 && cat > server.${kind}`;
    await database.admin.unsafe(`copy (${lines}) to program '${program}'`);
    await setSetting(database, `set ssl_${kind}_file = 'server.${kind}'`);
  }
  await setSetting(database, 'set ssl = on');
  await setTimeout(1_000); // By then, the database has loaded the certificate.
}
