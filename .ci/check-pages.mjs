/**
 * Checks the links and the commands of every Markdown page. A relative link must name an existing file, and
 * the anchor of a link must name a heading. `page-commands.js` must list each command.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { notRun, runBy } from './page-commands.js';

const tracked = ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'];
const pages = execFileSync('git', tracked, { encoding: 'utf8' })
  .split('\n')
  .filter((page) => page && !page.startsWith('.changeset/') && existsSync(page));
const fence = /^```(\w*).*?\n(.*?)^```/gms;
const listed = [...Object.keys(runBy), ...Object.keys(notRun)];
const found = new Set();

const errors = [
  ...pages.flatMap(linkErrors),
  ...pages.filter(isInstruction).flatMap(commandErrors),
  ...readmeErrors(),
  ...listErrors(),
];
for (const error of errors) console.error(error);
if (errors.length > 0) process.exitCode = 1;

function linkErrors(page) {
  const links = [...withoutCode(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)];
  return links.flatMap(([, path, anchor]) => {
    const file = path ? join(dirname(page), path) : page;
    if (!existsSync(file)) return [`${page} links to ${path}, which does not exist`];
    if (!anchor || anchorsOf(file).includes(anchor)) return [];
    return [`${page} links to #${anchor}, which is not a heading of ${file}`];
  });
}

/** Returns the anchors that GitHub makes for the headings of a page. */
function anchorsOf(page) {
  const headings = withoutCode(page).matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

function withoutCode(page) {
  return readFileSync(page, 'utf8').replaceAll(fence, '');
}

function commandErrors(page) {
  return commandsOf(page).flatMap((command) => {
    const [entry] = listed
      .filter((each) => `${command} `.startsWith(`${each} `))
      .toSorted(byLength);
    if (!entry) return [`.ci/page-commands.js does not list a command of ${page}: ${command}`];
    found.add(entry);
    return [];
  });
}

function byLength(a, b) {
  return b.length - a.length;
}

/** Returns the commands in shell blocks and between back-ticks. */
function commandsOf(page) {
  const text = readFileSync(page, 'utf8');
  const lines = [...text.matchAll(fence)]
    .filter(([, language]) => language === 'sh')
    .flatMap(([, , block]) => block.replaceAll(/\\\n\s*/g, '').split('\n'))
    .map((line) => line.replace(/(^|\s)#.*/, '').trim())
    .filter(Boolean);
  const spans = [...withoutCode(page).matchAll(/`([^`\n]+)`/g)].map(([, span]) => span);
  const isCommand =
    /^(npx|p?npm|node|plant-store|curl|psql|pg_\w+|git|docker|systemctl|python3) |^\.ci\//;
  return [...lines, ...spans.filter((span) => isCommand.test(span))].map((command) =>
    command.replace(/^([A-Z_]+=\S+ )+/, '').replace(/^(npx -y )?pnpm plant-store/, 'plant-store'),
  );
}

/** A changelog names commands, but nobody runs the commands of a changelog step by step. */
function isInstruction(page) {
  return basename(page) !== 'CHANGELOG.md';
}

/** The README must show two commands, because newcomers type these commands and CI runs them. */
function readmeErrors() {
  const shown = commandsOf('README.md');
  return ['npx -y pnpm start', 'npx -y pnpm test']
    .filter((command) => !shown.includes(command))
    .map((command) => `README.md does not show the command ${command}`);
}

function listErrors() {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  return [
    ...listed
      .filter((command) => !found.has(command))
      .map((command) => `.ci/page-commands.js lists a command that no page has: ${command}`),
    ...listed
      .filter((command) => isUnknownScript(command, scripts))
      .map((command) => `package.json has no script for ${command}`),
    ...Object.entries(runBy)
      .filter(([command, file]) => !runs(file, command))
      .map(([command, file]) => `${file} does not run ${command}`),
  ];
}

function isUnknownScript(command, scripts) {
  const [, script] = /^npx -y pnpm ([\w:]+)/.exec(command) ?? [];
  return script && !['install', 'exec', 'audit'].includes(script) && !scripts[script];
}

/** Whether a file runs a command: the file must contain the command's last word, such as `test:slow`. */
function runs(file, command) {
  return (
    existsSync(file) && readFileSync(file, 'utf8').includes(basename(command.split(' ').at(-1)))
  );
}
