import { describe, expect, it, vi } from 'vitest';
import { buildProgram } from '../../src/program.ts';
import { useDatabase } from '../fixtures/database.ts';
import { run } from '../fixtures/run-program.ts';

/** The tests of this file share a database, because no test changes it. */
const { env } = useDatabase({ isShared: true, isMigrated: true });

describe('the program explains the error to the user', () => {
  it.each([
    ['lst', "unknown command 'lst'"],
    ['get 7', 'no plant has the id 7: plant-store list shows the ids'],
    ['token create x --expires 0d', "argument '0d' is invalid. It must be a duration such as 90d,"],
    ['get 1.5', "value '1.5' is invalid for argument 'id'. It must be a whole number."],
    ['list --limit 0', "argument '0' is invalid. It must be a whole number from 1 to 999999999."],
    ['list --search ', 'It must have 1 to 100 characters.'],
    ['export --since soon', 'must be a time such as 2026-11-01, 2026-11-01T09:30:00Z or 24h.'],
    ['export --format xml', 'Allowed choices are ndjson, csv.'],
    ['import none.csv', 'cannot read none.csv: check its name and its permissions'],
    ['import . --format csv', 'cannot read .: it is a directory, so name a file'],
    ['import x.csv --delimiter ;;', 'It must be one character, such as ; or |, or the'],
    ['import x.ndjson --delimiter ;', 'only CSV has a delimiter: add --format csv'],
    ['import plants.txt', 'the format of plants.txt is unknown: add --format ndjson'],
    ['token revoke nobody', 'no access token has the name "nobody": plant-store token'],
    ['token create ', 'invalid input: name must have 1 to 100 characters'],
    ['completion fish', 'Allowed choices are bash, zsh.'],
    ['feed off', 'cannot ask without a terminal: add --yes to switch the feed off'],
    ['webhook create http://127.0.0.1/', 'must begin with https://'],
    ['webhook replay partner', 'set --since or --from'],
    ['follow --from yesterday!', 'must be now, start, or the cursor of a line'],
    ['follow --from abc.9223372036854775808', 'is invalid. It must be now, start, or the cursor'],
  ])('%s', async (command, message) => {
    vi.stubEnv('DATABASE_URL', env.DATABASE_URL);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const program = await buildProgram(() => {});
    await expect(program.parseAsync(command.split(' '), { from: 'user' })).rejects.toThrow(message);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  it('names the unreachable database, and shows the cause with --verbose', async () => {
    const unreachable = { DATABASE_URL: 'postgres://someone:hidden@127.0.0.1:1/plants' };
    const [short, long] = await Promise.all([
      run(['list'], { env: unreachable }),
      run(['list', '--verbose'], { env: unreachable }),
    ]);
    expect(short.stderr).toMatch(
      /^plant-store: nothing accepts connections there \(.*ECONNREFUSED.*\n$/,
    );
    expect(long.stderr).toMatch(
      /^plant-store: nothing accepts connections there \(.*\n(.*\n)*.* at /,
    );
    expect(short.stderr + long.stderr).not.toContain('hidden');
  });
});
