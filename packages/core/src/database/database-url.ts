/** The form of a database URL, for messages. */
export const databaseUrlSyntax = 'postgres://user:password@host:port/database';

/** Whether a text looks like the URL of a Postgres. */
export function isDatabaseUrl(text: string): boolean {
  return /^postgres(ql)?:\/\/./.test(text);
}
