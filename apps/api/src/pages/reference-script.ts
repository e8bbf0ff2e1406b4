import { readFile } from 'node:fs/promises';
import { fastify } from 'fastify';
import { isInRepository, packedReferenceScript } from '../repository.ts';

/**
 * Returns Scalar's script for browsers. In the repository, the script is a file of Scalar's plugin. The
 * published package has a copy of the script, because the plugin would install 20 further packages.
 */
export async function referenceScript(): Promise<Buffer> {
  if (!isInRepository) return readFile(packedReferenceScript);
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: 'openapi.json' } });
  return (await server.inject('/docs/js/scalar.js')).rawPayload;
}
