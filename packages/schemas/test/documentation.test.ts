import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { Int64 } from '../src/ids/int64.ts';
import { NewPlant, Plant } from '../src/plant.ts';
import {
  CountPlants,
  ListPlants,
  PlantCount,
  PlantIdInput,
  PlantPage,
  StoredPlant,
} from '../src/stored-plant.ts';

/** The documentation of a field or a parameter in the OpenAPI document. */
interface Documented {
  description?: string;
  example?: unknown;
  examples?: unknown[];
  type?: string;
  format?: string;
  pattern?: string;
}

const text = await readFile(new URL('../../../apps/api/openapi.json', import.meta.url), 'utf8');
const { components, paths } = JSON.parse(text);

/** Returns the documentation of a schema from its metadata. */
function documentationOf(schema: z.ZodType): Documented {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema; // zod gives the inner schema a less exact type.
  const { override = {}, ...meta } = (inner.meta() ?? {}) as Documented & { override?: Documented };
  return { ...meta, ...override };
}

it.each([
  ['Plant', Plant],
  ['NewPlant', NewPlant],
  ['StoredPlant', StoredPlant],
  ['PlantPage', PlantPage],
  ['PlantCount', PlantCount],
])('describes each field of %s as the OpenAPI document does', (name, schema) => {
  const { id, title } = schema.meta() ?? {};
  expect(id ?? title).toBe(name);
  const { properties } = components.schemas[name];
  expect(Object.keys(schema.shape)).toEqual(Object.keys(properties));
  for (const [field, each] of Object.entries(schema.shape)) {
    const documentation = documentationOf(each as z.ZodType);
    const { description, examples, format, pattern } = properties[field];
    expect(documentation).toMatchObject({ description });
    if (examples) expect(documentation).toMatchObject({ examples });
    if (format) expect(documentation).toMatchObject({ type: properties[field].type, format });
    if (pattern) expect(documentation).toMatchObject({ pattern });
  }
});

it.each([
  ['/plants', ListPlants.unwrap().shape],
  ['/plants/count', CountPlants.unwrap().shape],
  ['/plants/{id}', PlantIdInput.shape],
])('describes each parameter of GET %s as the OpenAPI document does', (path, shape) => {
  const parameters: (Documented & { name: string; schema: Documented })[] =
    paths[path].get.parameters;
  const documentation = new Map(
    Object.entries(shape).map(([name, schema]) => [name, documentationOf(schema)]),
  );
  expect(parameters.map(({ name }) => name)).toEqual([...documentation.keys()]);
  for (const { name, description, example, schema } of parameters) {
    expect(documentation.get(name)).toMatchObject({ description, examples: [example] });
    const { format, pattern, type } = schema;
    if (format) expect(documentation.get(name)).toMatchObject({ type, format });
    if (pattern) expect(documentation.get(name)).toMatchObject({ pattern });
  }
});

it('describes an id as an int64 even when a schema has no description of its own', () => {
  expect(documentationOf(Int64.in)).toEqual({ type: 'integer', format: 'int64' });
});
