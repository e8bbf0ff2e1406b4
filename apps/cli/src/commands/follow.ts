import { Command, Option } from 'commander';
import { followChanges } from '../follow/follow-changes.ts';
import {
  parseStartingPoint,
  type StartingPoint,
  startingPoints,
} from '../follow/starting-point.ts';

const help = `
Each line is a change: {"type":"created" or "deleted","plant":{…},"cursor":"…"}. The changes of an id
are in their order. Keep the cursor of the last line that you have processed, and begin there after a
restart: --from <cursor> gives each later change once, and loses nothing.

  now     only changes from now on. The first line has only the cursor of this moment
  start   first lists all plants as created, and then follows. The list and the changes behind it may
          both have a plant: the later line counts

When a plant was created and deleted before the command has read it, only the delete appears. When a cursor
is too old, or the database was replaced, the command stops: empty your copy, and begin with --from start.

While the database is down, the command waits, and warns once. A closed pipe ends the command: on Linux
within a second, and elsewhere at the next change.

Exit codes: 0 when the reader closed the pipe, 1 when an error stopped the command, 2 when an argument or
a setting is invalid, 130 or 143 when a signal interrupted it.

Examples:
  plant-store follow --from start | consumer
  plant-store follow --from "$(tail -n 1 changes.ndjson | jq -r .cursor)" >> changes.ndjson
`;

export const followCommand = () =>
  new Command('follow')
    .summary('write each change of the store as a line')
    .description(
      'Write a line of JSON for each plant, as soon as it is created or deleted. Runs until it is interrupted.',
    )
    .addOption(
      new Option('--from <place>', 'where to begin; also the cursor of a line')
        .choices(Object.keys(startingPoints))
        .argParser(parseStartingPoint)
        .default(startingPoints.now, 'now'),
    )
    .option('--tag <tag>', 'only changes of plants with this tag')
    .option('--json', 'also write errors as JSON')
    .addHelpText('after', help)
    .action(({ from, tag }: { from: StartingPoint; tag?: string }) => followChanges(from, tag));
