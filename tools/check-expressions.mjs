/**
 * Checks that every regular expression in the sources takes linear time. With a slower expression, one text
 * of a client could block the process. The check rejects assertions such as `(?=…)`, because its automata
 * cannot express them.
 */
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { check } from 'recheck';
import ts from 'typescript';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

for (const path of globSync('{apps,packages}/*/src/**/*.{ts,tsx}')) {
  const file = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest);
  for (const node of expressionsIn(file)) {
    const [, source, flags] = /^\/(.*)\/(\w*)$/s.exec(node.text);
    const { status, complexity, error } = await check(source, flags, {
      checker: 'automaton',
      timeout: null,
    });
    if (status === 'safe') continue;
    const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
    const why = complexity?.summary ?? error.message ?? error.kind;
    console.error(`${path}:${line} ${node.text} is not proven to be linear: ${why}`);
    process.exitCode = 1;
  }
}

function* expressionsIn(node) {
  if (ts.isRegularExpressionLiteral(node)) yield node;
  const children = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* expressionsIn(child);
}
