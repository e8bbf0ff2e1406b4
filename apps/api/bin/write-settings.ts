import { readFileSync, writeFileSync } from 'node:fs';
import { plain, settings } from '../src/settings.ts';

// Writes `.env.example` and the table of docs/configuration.md. With `--check`, only compares the files.
const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const entries = Object.entries(settings).map(([name, setting]) => {
  const { fallback = '', example = fallback }: { fallback?: string; example?: string } = setting;
  const isDirectory = name === 'PLANT_STORE_DATA_DIR';
  return {
    name,
    text: setting.text,
    example,
    fallback: isDirectory ? '`.plant-store`' : fallback && `\`${fallback}\``,
  };
});

const header = `# Copy this file to .env, and uncomment the settings that you change. docs/configuration.md explains them.`;
const example = entries.map(({ name, text, example }) => `# ${plain(text)}\n#${name}=${example}\n`);
const table = entries.map(
  ({ name, text, fallback }) => `| \`${name}\` | ${fallback || 'unset'} | ${text} |\n`,
);
const page = read('docs/configuration.md').replace(
  /(\| variable .*\n.*\n)(\| `[A-Z].*\n)*/,
  (_, head: string) => head + table.join(''),
);

for (const [path, text] of [
  ['.env.example', [header, ...example].join('\n')],
  ['docs/configuration.md', page],
] as const) {
  if (!process.argv.includes('--check'))
    writeFileSync(new URL(`../../../${path}`, import.meta.url), text);
  else if (read(path) !== text) {
    console.error(`${path} differs from apps/api/src/settings.ts: run npx -y pnpm settings`);
    process.exitCode = 1;
  }
}
