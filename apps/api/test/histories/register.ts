/** The state of one id: the content of its plant, or null without a plant. */
export type State = string | null;

/** An action on one id, with its result. The result is `unknown` when no response came. */
export type Action =
  | { readonly type: 'create'; readonly content: string; readonly result: CreateResult }
  | { readonly type: 'delete'; readonly result: DeleteResult }
  | { readonly type: 'read'; readonly state: State };

type CreateResult = 'stored' | 'taken' | 'unknown';
type DeleteResult = 'deleted' | 'absent' | 'unknown';

/** Returns the state after an action, or undefined when the result is impossible in the given state. */
export function stateAfter(state: State, action: Action): State | undefined {
  if (action.type === 'read') return action.state === state ? state : undefined;
  if (action.type === 'delete') {
    if (action.result === 'unknown') return null;
    return (action.result === 'deleted') === (state !== null) ? null : undefined;
  }
  const isTaken = state !== null && state !== action.content;
  if (action.result === 'unknown') return isTaken ? state : action.content;
  if ((action.result === 'taken') !== isTaken) return undefined;
  return isTaken ? state : action.content;
}
