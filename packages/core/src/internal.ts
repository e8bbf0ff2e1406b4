/** For the API alone: the published package does not have this face. */
export { generateToken } from './access-tokens/access-tokens.ts';
export { createPrincipalCache, type TokenOwner } from './access-tokens/principal-cache.ts';
export { databaseCode } from './error-causes.ts';
