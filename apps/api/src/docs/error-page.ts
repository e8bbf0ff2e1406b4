import { type ErrorKind, errorCatalogue, httpStatus } from '@plant-store/schemas';
import { errorExamples } from './error-examples.ts';

const kinds = Object.keys(errorCatalogue) as ErrorKind[]; // Its own keys, which TypeScript widens.

/** The page that explains every error of the catalogue, each at its number: `/docs/errors#40900`. */
export function errorPage(): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors of the plant store</title>
<style>${style}</style>
<h1>Errors</h1>
<p>Every error reply is <code>{"error": number, "message": text}</code>. The number is the HTTP
status × 100 and a detail. Over tRPC it is in <code>error.data.error</code>, with the same message.
<p>An example stands below each; the message says what was wrong with the request at hand.
<a href="/docs">To the API reference</a>
${kinds.map(section).join('\n')}
</html>
`;
}

function section(kind: ErrorKind): string {
  const { error, when } = errorCatalogue[kind];
  const example = JSON.stringify({ error, message: errorExamples[kind] });
  return `<section id="${error}">
<h2><a href="#${error}">${error}</a> ${escaped(when)}</h2>
<p>HTTP ${httpStatus(kind)}
<pre>${escaped(example)}</pre>
</section>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
h2 { font-size: 1.1rem; margin: 2rem 0 0 }
section:target h2 { text-decoration: underline }
p { margin: .5rem 0 }
pre { white-space: pre-wrap; padding: .75rem; border: 1px solid #8886; border-radius: .4rem }
`;
