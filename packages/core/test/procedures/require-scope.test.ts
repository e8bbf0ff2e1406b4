import { expect, it } from 'vitest';
import { requireScope } from '../../src/procedures/require-scope.ts';

const context = { principal: { name: 'Ann', scopes: ['plants:read'] } };

it.each([undefined, {}, { scope: undefined }, { scope: '' }])(
  'lets nobody call a procedure whose meta %j names no scope',
  (meta) => {
    expect(() => requireScope(meta, context)).toThrow('the procedure names no scope');
  },
);

it('asks for no scope when the procedure says that it needs none', () => {
  const nobody = { principal: { name: 'Ann', scopes: [] } };
  expect(requireScope({ scope: 'none' }, nobody)).toBeUndefined();
});

it('asks for the scope that a procedure names, and for no other', () => {
  expect(requireScope({ scope: 'plants:read' }, context)).toBeUndefined();
  expect(() => requireScope({ scope: 'plants:create' }, context)).toThrow(/plants:create/);
});
