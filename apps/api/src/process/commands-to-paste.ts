import { isInRepository, outsideFile, repositoryRoot } from '../repository.ts';

/** The command for cmd and PowerShell reads the plant from this file. */
const plantFile = outsideFile('plant.json');

/**
 * Returns a command that adds a plant. On Windows, the command is for cmd and PowerShell. On other systems,
 * the command is for a POSIX shell.
 *
 * @param token the access token, or undefined when the command must read `PLANT_STORE_TOKEN`
 */
export function curlCommand(url: string, token: string | undefined, isWindows: boolean): string {
  const address = `${url}/plants`;
  const type = '-H "Content-Type: application/json"';
  if (!isWindows) {
    // The id 9007199254740993 is the first integer that a JavaScript number cannot represent.
    const plant = '{"id":9007199254740993,"name":"Monstera deliciosa","tag":"Araceae"}';
    const bearer = token ?? `\${PLANT_STORE_TOKEN:?set it to an access token}`;
    return `curl ${address} -H "Authorization: Bearer ${bearer}" ${type} -d '${plant}'`;
  }
  // cmd and PowerShell differ in quotes and variables, so curl itself reads the plant's file and the token.
  const authorization = token
    ? `-H "Authorization: Bearer ${token}"`
    : '--variable %PLANT_STORE_TOKEN --expand-header "Authorization: Bearer {{PLANT_STORE_TOKEN}}"';
  // In PowerShell, `curl` is another command.
  return `curl.exe ${address} ${authorization} ${type} -d "@${plantFile}"`;
}

/**
 * Returns a command that creates an access token. The command works in any directory. In a POSIX shell, the
 * command sets `PLANT_STORE_TOKEN` to the token.
 *
 * @param variables the settings that another terminal may lack, without secrets
 * @param root the root of the repository, or undefined when the server runs from the published package
 */
export function tokenCommand(
  variables: Record<string, string>,
  isWindows: boolean,
  root = isInRepository ? repositoryRoot : undefined,
): string {
  const quoteRoot = isWindows ? (text: string) => `"${text}"` : quote;
  const program = root ? `pnpm -C ${quoteRoot(root)} plant-store-server` : '@plant-store/server';
  const create = `npx -y ${program} token create me`;
  // cmd and PowerShell set variables in different ways, so this command sets no variable.
  if (isWindows) return create;
  const settings = Object.entries(variables).map(([name, value]) => `${name}=${quote(value)} `);
  return `export PLANT_STORE_TOKEN="$(${settings.join('')}${create})"`;
}

function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
