import { Button } from '../../controls/button.tsx';
import { useSharedState } from '../../controls/shared-state.ts';
import { isActive, isEnded, isStarted, percentOf, summaryOf } from '../file-import.ts';
import type { Imports } from '../imports.ts';

/** Part of the header: shows the progress of the imports, and later a summary of the results. */
export function ImportChip({ imports, onOpen }: { imports: Imports; onOpen(): void }) {
  const all = useSharedState(imports.list);
  const active = all.find(isStarted) ?? all.find(isActive);
  const ended = all.filter(isEnded);
  if (!active && ended.length === 0) return null;
  const { outcome, attention } = summaryOf(ended);
  const isWaiting = active?.state === 'waiting';
  const text = active
    ? `${isWaiting ? 'Import waits' : 'Importing'}: ${percentOf(active)}%`
    : [outcome, attention].filter(Boolean).join(', ');
  return (
    <Button
      kind="progress"
      data-warning={isWaiting || attention !== '' || undefined}
      onClick={onOpen}
    >
      {text}
    </Button>
  );
}
