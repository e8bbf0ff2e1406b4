import { readFile } from 'node:fs/promises';
import { fastify } from 'fastify';
import { isInRepository, packedReferenceScript } from '../repository.ts';

/**
 * Returns Scalar's script for browsers. In the repository, only a plugin of Scalar contains this script. The
 * package contains the script, because the plugin would install 20 further packages.
 */
export async function referenceScript(): Promise<Buffer> {
  if (!isInRepository) return readFile(packedReferenceScript);
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: 'openapi.json' } });
  return (await server.inject('/docs/js/scalar.js')).rawPayload;
}
