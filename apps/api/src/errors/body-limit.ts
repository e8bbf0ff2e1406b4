/** Bytes of a request body, at most. */
export const bodyLimit = 1024 * 1024;

/** The message for a body over the limit, whether its length was sent or counted. */
export const bodyTooLarge = `the body is over ${bodyLimit} bytes`;
