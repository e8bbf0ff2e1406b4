import { readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { procedures } from '@plant-store/core/router';
import { errorCatalogue, errorKinds, isTemporary } from '@plant-store/schemas';
import { plain, type Setting, settings } from '../src/settings.ts';

// Writes `.env.example` and the tables of three pages from the sources. With `--check`, only compares them.
const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const all: [string, Setting][] = Object.entries(settings);
const examples = all.map(
  ([name, { text, fallback = '', example = fallback }]) =>
    `# ${plain(text)}\n#${name}=${example}\n`,
);
const settingRows = all.map(([name, { text, fallback, example }]) => {
  // The fallback may be a directory of this machine.
  const value = fallback && isAbsolute(fallback) ? example : fallback;
  return `| \`${name}\` | ${value ? `\`${value}\`` : 'unset'} | ${text} |`;
});
const errorRows = errorKinds.map((kind) => {
  const { code, when, advice } = errorCatalogue[kind];
  return `| ${code} | ${when} | ${advice} | ${isTemporary(code) ? 'yes' : ''} |`;
});

// The page has a list of the other calls.
const callRows = Object.entries(procedures).flatMap(([name, { definition }]) => {
  const { openapi: rest, scope } = definition.meta;
  if (!rest || /^(tokens|webhooks):/.test(scope)) return [];
  return [`| \`${name}\` | \`${rest.method} ${rest.path}\` | ${rest.successDescription} |`];
});

/** Describes each method of an interface: its signature, the first sentence of its comment, and its errors. */
function methods(path: string, name: string): string[] {
  const [, body = ''] = read(path).split(`export interface ${name} {\n`);
  const items: string[] = [];
  let [comment, signature] = ['', ''];
  for (const line of body.slice(0, body.indexOf('\n}\n')).split('\n')) {
    const text = line.trim();
    if (text.startsWith('/**') || text.startsWith('*')) {
      comment += ` ${text.replace('/**', '').replace('*/', '').replace('*', '').trim()}`;
      continue;
    }
    signature += ` ${text}`;
    // The last line of a member.
    if (!line.startsWith('  ') || line.startsWith('   ') || !line.endsWith(';')) continue;
    const code = signature.trim().replace('( ', '(').replace(', )', ')').slice(0, -1);
    const [description = '', ...thrown] = comment.trim().split('@throws');
    const sentence = description.trim().split('. ')[0]?.replace(/\.$/, '');
    const errors = errorKinds.filter((kind) => thrown.join().includes(`\`${kind}\``));
    const throws = errors.length > 0 ? `. Throws ${errors.join(', ')}` : '';
    // Other members have methods of their own.
    if (!code.startsWith('readonly')) items.push(`- \`${code}\`: ${sentence}${throws}.`);
    [comment, signature] = ['', ''];
  }
  return items;
}

/** Replaces the lines of a table or a list below a line. */
function replaceBelow(page: string, line: string, items: string[]): string {
  const lines = page.split('\n');
  const first = lines.findIndex((each) => each.startsWith(line)) + 2;
  const end = lines.findIndex((each, i) => i >= first && each === '');
  return lines.toSpliced(first, end - first, ...items).join('\n');
}

const [configuration, errors, core] = [
  'docs/configuration.md',
  'docs/errors.md',
  'packages/core/README.md',
];
const faces = [
  ['plant-store.ts', 'PlantStore'],
  ['access-tokens/access-tokens.ts', 'AccessTokens'],
  ['webhooks/webhooks.ts', 'Webhooks'],
] as const;
const files = {
  '.env.example': [
    '# Copy this file to .env, and uncomment the settings that you change.\n',
    ...examples,
  ].join('\n'),
  [configuration]: replaceBelow(read(configuration), '| variable', settingRows),
  'docs/api.md': replaceBelow(read('docs/api.md'), '| tRPC', callRows),
  [errors]: replaceBelow(read(errors), '| error', errorRows),
  [core]: faces.reduce(
    (page, [path, name]) =>
      replaceBelow(page, `### \`${name}\``, methods(`packages/core/src/${path}`, name)),
    read(core),
  ),
};

for (const [path, text] of Object.entries(files)) {
  if (text === read(path)) continue;
  if (!process.argv.includes('--check')) writeFileSync(new URL(path, root), text);
  else {
    console.error(`${path} is old: run npx -y pnpm pages`);
    process.exitCode = 1;
  }
}
