import { readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { procedures } from '@plant-store/core/router';
import { errorCatalogue, errorKinds, isTemporary } from '@plant-store/schemas';
import { openApiDocument } from '../openapi/document.ts';
import { plain, type Setting, settings } from '../src/settings.ts';

// Writes the OpenAPI document, `.env.example`, and some tables and lists of the Markdown pages from the sources.
// With `--check`, the program only reports the files that are old.
const root = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');

const all: [string, Setting][] = Object.entries(settings);
const examples = all.map(
  ([name, { text, fallback = '', example = fallback }]) =>
    `# ${plain(text)}\n#${name}=${example}\n`,
);
const settingRows = all.map(([name, { text, fallback, example }]) => {
  // A fallback may be a directory of this machine. The table then shows the example.
  const value = fallback && isAbsolute(fallback) ? example : fallback;
  return `| \`${name}\` | ${value ? `\`${value}\`` : 'unset'} | ${text} |`;
});
const errorRows = errorKinds.map((kind) => {
  const { code, when, advice } = errorCatalogue[kind];
  return `| ${code} | ${when} | ${advice} | ${isTemporary(code) ? 'yes' : ''} |`;
});

// The text of docs/api.md already names the calls on tokens and webhooks.
const callRows = Object.entries(procedures).flatMap(([name, { definition }]) => {
  const { openapi: rest, scope } = definition.meta;
  if (!rest || /^(tokens|webhooks):/.test(scope)) return [];
  return [`| \`${name}\` | \`${rest.method} ${rest.path}\` | ${rest.successDescription} |`];
});

/** Describes each method of an interface: the signature, the first sentence of the comment, and the errors. */
function methods(path: string, name: string): string[] {
  const [, source = ''] = read(path).split(`export interface ${name} {`);
  const [body = ''] = source.split('\n}\n');
  const members = body.matchAll(/\/\*\*(.*?)\*\/\s+(\w.*?);(?:\n|$)/gs);
  return [...members].flatMap(([, comment = '', signature = '']) => {
    if (signature.startsWith('readonly')) return []; // This member has methods of its own.
    const code = signature.replaceAll(/\s+/g, ' ').replace('( ', '(').replace(', )', ')');
    const [description = '', ...thrown] = comment.replaceAll(/\s+(\* )?/g, ' ').split('@throws');
    const [sentence] = description.trim().split(/\.(?: |$)/);
    const errors = errorKinds.filter((kind) => thrown.join().includes(`\`${kind}\``));
    const throws = errors.length > 0 ? `. Throws ${errors.join(', ')}` : '';
    return [`- \`${code}\`: ${sentence}${throws}.`];
  });
}

/** Replaces the table rows or list items after the line that begins with `line`, and after the next line. */
function replaceBelow(page: string, line: string, items: string[]): string {
  const lines = page.split('\n');
  const first = lines.findIndex((each) => each.startsWith(line)) + 2;
  const end = lines.findIndex((each, i) => i >= first && each === '');
  return lines.toSpliced(first, end - first, ...items).join('\n');
}

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
  'docs/configuration.md': replaceBelow(read('docs/configuration.md'), '| variable', settingRows),
  'docs/api.md': replaceBelow(read('docs/api.md'), '| tRPC', callRows),
  'docs/errors.md': replaceBelow(read('docs/errors.md'), '| error', errorRows),
  'packages/core/README.md': faces.reduce(
    (page, [path, name]) =>
      replaceBelow(page, `### \`${name}\``, methods(`packages/core/src/${path}`, name)),
    read('packages/core/README.md'),
  ),
  'apps/api/openapi.json': `${JSON.stringify(openApiDocument(), null, 1)}\n`,
};

for (const [path, text] of Object.entries(files)) {
  if (text === read(path)) continue;
  if (!process.argv.includes('--check')) writeFileSync(new URL(path, root), text);
  else {
    console.error(`${path} is old: run npx -y pnpm pages`);
    process.exitCode = 1;
  }
}
