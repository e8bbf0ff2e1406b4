import { fileURLToPath } from 'node:url';

/** This file contains the plant of the command below. */
const plantFile = fileURLToPath(new URL('../../../../examples/plant.json', import.meta.url));

/**
 * Returns a command that adds a plant, for cmd and PowerShell on Windows, otherwise for a POSIX shell.
 *
 * @param token the access token, or undefined when the variable `PLANT_STORE_TOKEN` contains it
 */
export function curlCommand(url: string, token: string | undefined, isWindows: boolean): string {
  const address = `${url}/plants`;
  const type = '-H "Content-Type: application/json"';
  if (!isWindows) {
    // This is the first id that a JavaScript number cannot hold.
    const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}';
    const bearer = token ?? `\${PLANT_STORE_TOKEN:?set it to an access token}`;
    return `curl ${address} -H "Authorization: Bearer ${bearer}" ${type} -d '${plant}'`;
  }
  // cmd and PowerShell quote JSON and write variables in different ways. So curl reads both itself.
  const authorization = token
    ? `-H "Authorization: Bearer ${token}"`
    : '--variable %PLANT_STORE_TOKEN --expand-header "Authorization: Bearer {{PLANT_STORE_TOKEN}}"';
  // In PowerShell, `curl` is another command.
  return `curl.exe ${address} ${authorization} ${type} -d "@${plantFile}"`;
}

/**
 * Returns a command that creates an access token, from any directory. In a POSIX shell, the command sets
 * `PLANT_STORE_TOKEN` to the token.
 *
 * @param variables the settings that another terminal may not have, without secrets
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
