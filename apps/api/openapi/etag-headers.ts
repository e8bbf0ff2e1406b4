const schema = (description: string) => ({
  schema: { type: 'string' as const, description, examples: ['"813"'] },
});

/** Declares the header of a response that has one plant. */
export const etag = {
  ETag: { required: true, ...schema('The version of the plant, for `If-Match`') },
};

/** Declares the condition of a write. */
export const ifMatch = {
  in: 'header' as const,
  name: 'If-Match',
  ...schema('Only if the plant still has this ETag. Another plant, or none, gets 41200'),
};

/** Declares the condition of a read. */
export const ifNoneMatch = {
  in: 'header' as const,
  name: 'If-None-Match',
  ...schema('If the plant still has this ETag, the response is 304 without a body'),
};
