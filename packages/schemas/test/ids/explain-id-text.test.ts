import { expect, it } from 'vitest';
import { explainIdText } from '../../src/ids/explain-id-text.ts';

it.each([
  ['42', undefined],
  ['-9223372036854775808', undefined],
  ['', 'must be a whole number'],
  ['5x', 'must be a whole number'],
  ['007', 'must be a whole number'],
  ['9223372036854775808', 'must be from -9223372036854775808 to 9223372036854775807'],
])('explains why the text %j is not an id, or returns undefined', (text, reason) => {
  expect(explainIdText(text)).toBe(reason);
});
