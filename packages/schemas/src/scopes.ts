/** The scopes of access tokens. Each procedure names the scope that it needs. */
export const scopes = [
  'plants:create',
  'plants:read',
  'plants:update',
  'plants:delete',
  'tokens:manage',
  'webhooks:manage',
] as const;

export type Scope = (typeof scopes)[number];

/** Whether a text is the name of a scope. */
export function isScope(text: string): text is Scope {
  return scopes.some((scope) => scope === text);
}
