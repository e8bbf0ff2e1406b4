/** What a database URL looks like, for messages. */
export const databaseUrlSyntax = 'postgres://user:password@host:port/database';

/** Whether a text may be the URL of a Postgres; whether it works, only the Postgres can tell. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:\/\/./.test(text);
}
