import { expect, it } from 'vitest';
import { checkOut } from '../../src/processes/commit-checkout.ts';

it('throws an error with the name of the commit when the commit does not exist', async () => {
  await expect(checkOut('no-such-commit')).rejects.toThrow(
    'the commit no-such-commit cannot be built',
  );
});
