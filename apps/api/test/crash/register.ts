/** The state of one id: the content of its plant, or null without a plant. */
export type State = string | null;

/** An action on one id, with its result. The result is `unknown` when no response came. */
export type Action =
  | { readonly type: 'create'; readonly content: string; readonly result: CreateResult }
  | { readonly type: 'replace'; readonly content: string; readonly result: ChangeResult }
  | { readonly type: 'delete'; readonly result: ChangeResult }
  | { readonly type: 'read'; readonly state: State };

type CreateResult = 'stored' | 'taken' | 'unknown';

/** The result of an action that needs a plant: the plant was changed, or the id had no plant. */
type ChangeResult = 'changed' | 'absent' | 'unknown';

/** Returns the state after an action, or undefined when the result is impossible in the given state. */
export function stateAfter(state: State, action: Action): State | undefined {
  if (action.type === 'read') return action.state === state ? state : undefined;
  if (action.type === 'create') {
    const isTaken = state !== null && state !== action.content;
    if (action.result !== 'unknown' && (action.result === 'taken') !== isTaken) return undefined;
    return isTaken ? state : action.content;
  }
  const isThere = state !== null;
  if (action.result !== 'unknown' && (action.result === 'changed') !== isThere) return undefined;
  if (!isThere) return null;
  return action.type === 'replace' ? action.content : null;
}
