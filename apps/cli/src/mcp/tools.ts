import type {
  McpServer,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from '@modelcontextprotocol/server';
import type { PlantStoreClient } from '@plant-store/client';
import {
  CountPlants,
  CreateResult,
  IdFromText,
  integerBetween,
  ListPlants,
  defaultPageSize as maxPlants,
  NewPlant,
  PlantCount,
  PlantIdInput,
  type Scope,
  StoredPlant,
} from '@plant-store/schemas';
import * as z from 'zod';
import { findPlants } from './find-plants.ts';
import { fitting, type ToolCall, toolResult } from './tool-result.ts';

/** Ids are texts, because many JSON parsers round integers beyond 2^53. */
const digits = 'a text of digits, such as "9007199254740993"';
const description = `The id of the plant: ${digits}`;
const id = z
  .string({ error: `must be ${digits}` })
  .pipe(IdFromText)
  .meta({ description });
const idOutput = z.string().meta({ description });
const plant = StoredPlant.extend({ id: idOutput, createdAt: z.string() });
const [outcome, rejection] = CreateResult.options;

/** No tool manages access tokens, because an agent must not give other people access. */
type ToolScope = Exclude<Scope, 'tokens:manage'>;

const hints: Record<ToolScope, ToolAnnotations> = {
  'plants:read': { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  'plants:create': { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  // A delete is not idempotent: a second delete could delete a new plant with the same id.
  'plants:delete': { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
};

interface Tool<Input extends z.ZodObject> {
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  readonly output: z.ZodObject;
  run(input: z.output<Input>, call: ToolCall): Promise<object>;
}

/** Adds each tool whose scope is in `allowed`. */
export function addTools(server: McpServer, client: PlantStoreClient, allowed: string[]): void {
  function add<Input extends z.ZodObject>(
    scope: ToolScope,
    name: string,
    { input, output, run, ...about }: Tool<Input>,
  ) {
    if (!allowed.includes(scope)) return;
    const schemas = { inputSchema: toolSchema(input), outputSchema: toolSchema(output) };
    const config = { ...about, ...schemas, annotations: { ...hints[scope], openWorldHint: false } };
    server.registerTool(name, config, (args, context) =>
      toolResult(context, (call) => run(args, call)),
    );
  }

  add('plants:read', 'find_plants', {
    title: 'Find plants',
    description:
      'Lists plants by id: all plants, or plants with a tag or with a text in their names. If the result ' +
      'has `next`, even without plants, continue with `next` as `after`. A text over 700 characters is cut.',
    input: ListPlants.unwrap().extend({
      after: id.optional().describe(`The \`next\` of the last result, or an id: ${digits}`),
      limit: integerBetween(1, maxPlants)
        .default(maxPlants)
        .describe('How many plants to return, at most'),
    }),
    output: z.object({ plants: z.array(plant), next: z.string().optional() }),
    run: (input, call) => findPlants(client, input, call),
  });
  add('plants:read', 'get_plant', {
    title: 'Get a plant',
    description: 'Returns the plant with an id. A text over 700 characters is cut.',
    input: PlantIdInput.extend({ id }),
    output: plant,
    run: (input, call) => client.getPlant.query(input, call),
  });
  add('plants:read', 'count_plants', {
    title: 'Count plants',
    description: 'Counts all plants, or the plants with a tag.',
    input: CountPlants.unwrap(),
    output: z.object(PlantCount.shape),
    run: (input, call) => client.countPlants.query(input, call),
  });
  add('plants:create', 'create_plants', {
    title: 'Create plants',
    description:
      'Creates plants with ids of your choice, and returns a result for each plant. It is safe to repeat a ' +
      'call. `omitted` counts the last plants, whose results would be too long: repeat the call with them.',
    input: z.strictObject({ plants: z.array(NewPlant.extend({ id })).min(1).max(maxPlants) }),
    output: z.object({
      results: z.array(
        z.union([outcome.extend({ id: idOutput }), rejection.extend({ id: idOutput })]),
      ),
      omitted: z.int().min(0).max(maxPlants),
    }),
    async run(input, call) {
      const { results } = await client.createPlants.mutate(input, call);
      const shown = fitting(results);
      return { results: shown, omitted: results.length - shown.length };
    },
  });
  add('plants:delete', 'delete_plant', {
    title: 'Delete a plant',
    description:
      'Deletes the plant with an id. After an error, read the plant before you repeat the call.',
    input: PlantIdInput.extend({ id }),
    output: z.object({ deleted: idOutput }),
    async run(input, call) {
      await client.deletePlant.mutate(input, call);
      return { deleted: input.id };
    },
  });
}

/**
 * Makes a schema for the SDK. `override` in a schema of the store replaces properties of the JSON Schema.
 * Outputs may have additional properties, because later versions may add properties.
 */
function toolSchema<Schema extends z.ZodObject>(
  schema: Schema,
): StandardSchemaWithJSON<z.input<Schema>, z.output<Schema>> {
  const toJsonSchema = () =>
    z.toJSONSchema(schema, {
      io: 'input',
      override({ jsonSchema }) {
        Object.assign(jsonSchema, jsonSchema['override']);
        delete jsonSchema['override'];
      },
    });
  const jsonSchema = { input: toJsonSchema, output: toJsonSchema };
  return { '~standard': { ...schema['~standard'], jsonSchema } };
}
