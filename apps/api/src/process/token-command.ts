/**
 * A command that creates an access token when it is pasted into another terminal, in whatever directory:
 * on Windows into cmd or PowerShell, otherwise into a POSIX shell, where it also sets
 * `PLANT_STORE_TOKEN`.
 *
 * @param variables what the command needs and the other terminal may not have, without secrets
 */
export function tokenCommand(
  root: string,
  variables: Record<string, string>,
  isWindows: boolean,
): string {
  const create = 'plant-store token create me';
  // cmd and PowerShell set variables in different ways.
  if (isWindows) return `npx -y pnpm -C "${root}" ${create}`;
  const settings = Object.entries(variables).map(([name, value]) => `${name}=${quote(value)} `);
  const command = `${settings.join('')}npx -y pnpm -C ${quote(root)} ${create}`;
  return `export PLANT_STORE_TOKEN="$(${command})"`;
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
