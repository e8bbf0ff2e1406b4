import { Button } from '../../controls/button.tsx';
import { isActive, isEnded, isStarted, percentOf, summaryOf } from '../file-import.ts';
import { type Imports, useImports } from '../imports.ts';

/** Shows the progress of the imports in the header, and later a summary of the results. */
export function ImportChip({ imports, onOpen }: { imports: Imports; onOpen(): void }) {
  const all = useImports(imports);
  const active = all.find(isStarted) ?? all.find(isActive);
  const ended = all.filter(isEnded);
  if (!active && ended.length === 0) return null;
  const { outcome, attention } = summaryOf(ended);
  const isWaiting = active?.state === 'waiting';
  const isWarning = isWaiting || attention !== '';
  // On a phone, CSS hides the text in spans from sight, but not from screen readers.
  return (
    <Button kind="progress" data-warning={isWarning || undefined} onClick={onOpen}>
      {active && (
        <>
          <span>{isWaiting ? 'Import waits: ' : 'Importing: '}</span>
          {percentOf(active)}%
        </>
      )}
      {!active && attention === '' && outcome}
      {!active && attention !== '' && (
        <>
          <span>{outcome}, </span>
          {attention}
        </>
      )}
    </Button>
  );
}
