import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Document {
  paths: { '/plants': { post: { responses: Record<string, DeclaredResponse> } } };
}

interface DeclaredResponse {
  headers?: object;
  content: { 'application/json': { examples?: Record<string, { value: unknown }> } };
}

/** Checks replies against the document that the server itself serves. */
export async function documentValidator(url: string) {
  const reply = await fetch(`${url}/openapi.json`);
  const document = (await reply.json()) as Document;
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const { responses } = document.paths['/plants'].post;
  const pathTo = (status: number) =>
    `openapi#/paths/~1plants/post/responses/${status}/content/application~1json/schema`;

  return {
    /** The statuses that the document declares. */
    statuses: Object.keys(responses).map(Number),

    /** The bodies that the document shows for a status. */
    examplesOf(status: number): unknown[] {
      const { examples = {} } = responses[status]?.content['application/json'] ?? {};
      return Object.values(examples).map(({ value }) => value);
    },

    /** What is wrong with a reply; nothing where it is as the document says. */
    problemsWith(reply: { status: number; headers: Headers; body: unknown }): string[] {
      const declared = responses[reply.status];
      if (!declared) return [`status ${reply.status} is not declared`];
      const problems = Object.keys(declared.headers ?? {})
        .filter((name) => !reply.headers.has(name))
        .map((name) => `header ${name} is missing`);
      if (reply.headers.get('content-type') !== 'application/json') {
        problems.push(`content type is ${reply.headers.get('content-type')}`);
      }
      const validate = ajv.getSchema(pathTo(reply.status));
      if (!validate) throw new Error(`no schema for ${reply.status}`);
      if (!validate(reply.body)) problems.push(ajv.errorsText(validate.errors));
      return problems;
    },
  };
}
