import { readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { plain, type Setting, settings } from '../src/settings.ts';

// Writes `.env.example` and the table of docs/configuration.md. With `--check`, only compares the files.
const all: [string, Setting][] = Object.entries(settings);
const lines = all.map(([name, { text, fallback = '', example = fallback }]) => ({
  example: `# ${plain(text)}\n#${name}=${example}\n`,
  // The fallback may be a directory of this machine.
  row: `| \`${name}\` | ${fallback ? `\`${isAbsolute(fallback) ? example : fallback}\`` : 'unset'} | ${text} |\n`,
}));
const pageUrl = new URL('../../../docs/configuration.md', import.meta.url);
const oldPage = readFileSync(pageUrl, 'utf8');
const page = oldPage.replace(
  /(?<=\| variable .*\n.*\n)(\| `[A-Z].*\n)*/,
  lines.map(({ row }) => row).join(''),
);
const exampleUrl = new URL('../../../.env.example', import.meta.url);
const header = '# Copy this file to .env, and uncomment the settings that you change.\n';
const example = [header, ...lines.map(({ example }) => example)].join('\n');

if (!process.argv.includes('--check')) {
  writeFileSync(pageUrl, page);
  writeFileSync(exampleUrl, example);
} else if (page !== oldPage || example !== readFileSync(exampleUrl, 'utf8')) {
  console.error('.env.example or docs/configuration.md is old: run npx -y pnpm settings');
  process.exitCode = 1;
}
