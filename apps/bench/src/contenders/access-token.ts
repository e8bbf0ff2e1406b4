/** The access token that every contender accepts. */
export const accessToken = 'benchmark';
