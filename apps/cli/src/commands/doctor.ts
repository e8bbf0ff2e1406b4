import { Command } from 'commander';
import { exitCodes } from '../command-line/errors.ts';
import { writeOut } from '../command-line/output.ts';
import { examine, type Finding } from '../doctor/run-checks.ts';

export const doctorCommand = () =>
  new Command('doctor')
    .summary('say what is wrong, and what to do about it')
    .description(
      'Check the configuration, the database, its migrations, its clock and its settings for\n' +
        'durability, and say what to mend. Changes nothing. Ends with 1 when there is a problem.',
    )
    .option('--json', 'write each finding as a line of JSON')
    .addHelpText('after', '\nExample:\n  plant-store doctor\n')
    .action(async ({ json }: { json?: true }) => {
      const findings = await examine();
      await writeOut(
        findings.map((finding) => (json ? `${JSON.stringify(finding)}\n` : line(finding))),
      );
      if (findings.some(({ level }) => level === 'problem')) process.exitCode = exitCodes.failed;
    });

function line({ level, check, message }: Finding): string {
  return `${level.padEnd(8)} ${check.padEnd(14)} ${message}\n`;
}
