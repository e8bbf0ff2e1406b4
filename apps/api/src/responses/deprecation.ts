import type { Deprecation } from '@plant-store/schemas';

/** Makes the headers of a deprecated operation (RFC 9745, RFC 8594). */
export function deprecationHeaders({ since, sunset }: Deprecation): Record<string, string> {
  return {
    deprecation: `@${Date.parse(since) / 1000}`,
    ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
  };
}
