interface Schema {
  $ref?: string;
  examples?: unknown[];
  items?: Schema;
  properties?: Record<string, Schema>;
}

interface Media {
  schema: Schema;
  example?: unknown;
}

/** Adds an example to the JSON body of a request or of a response, if there is a body. */
export function addExample(message: unknown, schemas: Record<string, unknown>): void {
  const media: Media | undefined = Object(message).content?.['application/json'];
  if (media) media.example = exampleOf(media.schema, schemas);
}

/** Makes an example of a body from the first example of each field. A list has one element. */
function exampleOf(schema: Schema, schemas: Record<string, unknown>): unknown {
  const { $ref, examples, items, properties } = schema;
  if ($ref) return exampleOf(Object(schemas[$ref.split('/').at(-1) ?? '']), schemas);
  if (examples) return examples[0];
  if (items) return [exampleOf(items, schemas)];
  if (!properties) return undefined;
  const fields = Object.entries(properties).map(([name, field]) => [
    name,
    exampleOf(field, schemas),
  ]);
  const known = fields.filter(([, example]) => example !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
