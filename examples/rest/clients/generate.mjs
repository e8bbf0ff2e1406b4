/** Generates the clients: `node generate.mjs <document> <output>`. The project must have the generators. */
import { createClient } from '@hey-api/openapi-ts';
import { generate } from 'orval';
import { generateApi } from 'swagger-typescript-api';

const [input, output] = process.argv.slice(2);

await createClient({
  input,
  output: `${output}/hey-api`,
  logs: { level: 'warn' },
  plugins: [
    '@hey-api/client-fetch',
    '@hey-api/typescript',
    { name: '@hey-api/transformers', bigInt: true },
    { name: '@hey-api/sdk', transformer: true },
    { name: 'zod', compatibilityVersion: 4 },
  ],
});

await generate({
  input,
  output: {
    target: `${output}/orval/store.ts`,
    client: 'fetch',
    override: {
      useBigInt: true,
      mutator: { path: `${output}/../orval-fetch.ts`, name: 'orvalFetch' },
    },
  },
});

await generateApi({
  input,
  output: `${output}/swagger-typescript-api`,
  fileName: 'store.ts',
  silent: true,
  primitiveTypeConstructs: (types) => ({
    ...types,
    integer: { $default: 'number', int64: 'bigint' },
  }),
});
