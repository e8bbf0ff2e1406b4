import { expect, it } from 'vitest';
import { isScope, scopes } from '../src/scopes.ts';

it('recognizes the four scopes, and no other text', () => {
  expect(scopes).toEqual(['plants:create', 'plants:read', 'plants:delete', 'tokens:manage']);
  expect(['plants:read', 'plants:write', '', 'PLANTS:READ'].map(isScope)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
