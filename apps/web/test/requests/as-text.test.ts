import { expect, it } from 'vitest';
import { asCurl } from '../../src/requests/as-curl.ts';
import { asTypeScript } from '../../src/requests/as-typescript.ts';

const at = new Date();
const base = 'https://plants.example.com/store/';

it('formats a createPlant request with all digits of the id', () => {
  const input = { id: 9007199254740993n, name: "It's", tag: 'x' };
  const request = { number: 1, procedure: 'createPlant' as const, input, at };
  expect(asCurl(request, base)).toBe(String.raw`curl 'https://plants.example.com/store/plants' \
  -H "Authorization: Bearer $PLANT_STORE_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{"id":9007199254740993,"name":"It'\''s","tag":"x"}'`);
  expect(asTypeScript(request, base)).toContain(
    `await store.createPlant.mutate({ id: 9007199254740993n, name: "It's", tag: "x" })`,
  );
});

it('formats a listPlants request with parameters', () => {
  const input = { limit: 500, tag: 'a & b', after: -5n };
  const request = { number: 1, procedure: 'listPlants' as const, input, at };
  expect(asCurl(request, base)).toContain('plants?limit=500&tag=a+%26+b&after=-5');
  expect(asTypeScript(request, base)).toContain('listPlants.query({ limit: 500,');
});

it('formats a deletePlant request', () => {
  const request = { number: 1, procedure: 'deletePlant' as const, input: { id: 7n }, at };
  expect(asCurl(request, base)).toContain(`curl -X DELETE '${base}plants/7'`);
  expect(asTypeScript(request, base)).toContain('await store.deletePlant.mutate({ id: 7n })');
});
