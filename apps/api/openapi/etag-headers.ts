const example = '"813"';

/** Declares the header of a response that has one plant. */
export const etag = {
  ETag: {
    description: 'The version of the plant, for `If-Match`',
    required: true,
    schema: { type: 'string' as const },
    example,
  },
};

const condition = (name: string, description: string) => ({
  in: 'header' as const,
  name,
  schema: { type: 'string' as const, description, examples: [example] },
});

/** Declares the condition of a write. */
export const ifMatch = condition(
  'If-Match',
  'Only if the plant still has this ETag. Another plant, or none, gets 41200',
);

/** Declares the condition of a read. */
export const ifNoneMatch = condition(
  'If-None-Match',
  'If the plant still has this ETag, the response is 304 without a body',
);
