import { Command } from 'commander';
import { exitCodes } from '../command-line/errors.ts';
import { writeOutput } from '../command-line/output.ts';
import type { Finding } from '../doctor/finding.ts';
import { instanceChecks } from '../doctor/instance-checks.ts';
import { runChecks } from '../doctor/run-checks.ts';

export const doctorCommand = () =>
  new Command('doctor')
    .summary('find what is wrong with the store, and say what to do about it')
    .description(
      'Check the settings, the database and its hosts, and say what to do. Also creates and ' +
        'deletes plants in a transaction, and rolls the transaction back. No client sees these plants. ' +
        'The exit code is 1 when a line says `problem`, and 0 when there are only warnings.',
    )
    .option('--json', 'write each finding as a line of JSON')
    .option('--metrics <url>', 'also check the running server that prints this URL of its metrics')
    .addHelpText('after', '\nExample:\n  plant-store doctor\n')
    .action(async ({ json, metrics }: { json?: true; metrics?: string }) => {
      const instance = metrics === undefined ? [] : await instanceChecks(metrics);
      const findings = [...(await runChecks()), ...instance];
      await writeOutput(
        findings.map((finding) => (json ? `${JSON.stringify(finding)}\n` : formatLine(finding))),
      );
      if (findings.some(({ level }) => level === 'problem')) process.exitCode = exitCodes.error;
    });

function formatLine({ level, check, message }: Finding): string {
  return `${level.padEnd(8)} ${check.padEnd(14)} ${message}\n`;
}
