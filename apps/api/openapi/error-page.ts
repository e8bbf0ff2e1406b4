import {
  type ErrorKind,
  errorAdvice,
  errorCatalogue,
  errorKinds,
  httpStatus,
} from '@plant-store/schemas';
import { errorExamples } from './error-examples.ts';

/** Makes the HTML page of errors. Each error has an anchor, such as `/docs/errors#40900`. */
export function errorPage(): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="../favicon.ico">
<title>Errors of the plant store</title>
<style>${style}</style>
<h1>Errors</h1>
<p>Over REST, every error response is <code>{"error": code, "message": text}</code>. The error code is
the HTTP status × 100 plus a detail. Over tRPC it is in <code>error.json.data.error</code>, with the same
message in <code>error.json.message</code>.
<p>Each error below has an example. The real message says what was wrong with your request.
<a href="../docs">API reference</a>
${errorKinds.map(section).join('\n')}
</html>
`;
}

function section(kind: ErrorKind): string {
  const { code, when } = errorCatalogue[kind];
  const { action, repeat } = errorAdvice(kind);
  const example = JSON.stringify({ error: code, message: errorExamples[kind] });
  return `<section id="${code}">
<h2><a href="#${code}">${code}</a> ${escapeHtml(when)}</h2>
<p>HTTP ${httpStatus(kind)}
<p>What to do: ${withCode(action)}. Send the same request again: ${withCode(repeat)}.
<pre>${escapeHtml(example)}</pre>
</section>`;
}

function withCode(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>');
}

function escapeHtml(text: string): string {
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
