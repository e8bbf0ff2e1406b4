import type { FallbackProps } from 'react-error-boundary';
import { forgetDraft } from '../../plants/add/draft.ts';
import { explainError } from '../../store/explain-error.ts';

/**
 * Replaces the console after an uncaught exception in the console's code. A stored draft may have caused the
 * exception, so the link forgets the draft.
 */
export function CrashPage({ error }: FallbackProps) {
  return (
    <main className="card table-message" role="alert">
      <h1>The console cannot continue</h1>
      <p>The plants in the store are safe. The error is: {explainError(error)}</p>
      <a className="button" href={location.pathname} onClick={forgetDraft}>
        Start again
      </a>
    </main>
  );
}
