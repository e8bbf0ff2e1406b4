import { type ErrorKind, errorAdvice, errorCatalogue } from '@plant-store/schemas';
import { expect, it } from 'vitest';
import { errorExamples } from '../../openapi/error-examples.ts';
import { shareServer } from '../fixtures/running-server.ts';

const server = shareServer();

it('has a section with an example and advice for every error code', async () => {
  const response = await fetch(`${server.url}/docs/errors`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const page = await response.text();
  for (const [kind, message] of Object.entries(errorExamples)) {
    const { code } = errorCatalogue[kind as ErrorKind]; // TypeScript types the keys as strings.
    const { action } = errorAdvice(kind as ErrorKind);
    const [, section = ''] =
      new RegExp(`<section id="${code}">(.*?)</section>`, 's').exec(page) ?? [];
    expect(section).toContain(JSON.stringify(message).replaceAll('<', '&lt;'));
    const text = section.replaceAll(/<\/?code>/g, '`').replaceAll('&lt;', '<');
    expect(text).toContain(`What to do: ${action}.`);
  }
});

it('runs no scripts and loads nothing from other hosts', async () => {
  const response = await fetch(`${server.url}/docs/errors`);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(await response.text()).not.toMatch(/<script|(src|href)="(https?:)?\/\//);
});

it('is linked from the OpenAPI document, and links to the API reference', async () => {
  const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json();
  expect(document).toMatchObject({
    info: { description: expect.stringContaining('(docs/errors)') },
  });
  const page = await (await fetch(`${server.url}/docs/errors`)).text();
  expect(page).toContain('href="../docs"');
});
