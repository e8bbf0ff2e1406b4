import { Button } from '../../controls/button.tsx';
import { type FileImport, isActive, isStarted, percentOf } from '../file-import.ts';
import { type Imports, useImports } from '../imports.ts';

/** Shows the progress of the imports in the header, which every view has. */
export function ImportChip({ imports, onOpen }: { imports: Imports; onOpen(): void }) {
  const all = useImports(imports);
  const shown = all.find(isStarted) ?? all.find(isActive) ?? all.find(isEnded);
  if (!shown) return null;
  return (
    <Button kind="progress" data-warning={isInTrouble(shown) || undefined} onClick={onOpen}>
      <ChipText current={shown} />
    </Button>
  );
}

function isInTrouble({ state }: FileImport): boolean {
  return state === 'failed' || state === 'waiting';
}

function isEnded({ state }: FileImport): boolean {
  return state === 'done' || state === 'cancelled' || state === 'failed';
}

/** On a phone, CSS hides the text in spans from sight, but not from screen readers. */
function ChipText({ current }: { current: FileImport }) {
  const { state, counts } = current;
  if (isActive(current)) {
    return (
      <>
        <span>{state === 'waiting' ? 'Import waits: ' : 'Importing: '}</span>
        {percentOf(current)}%
      </>
    );
  }
  if (state === 'done') {
    const problems = counts.taken + counts.rejected;
    return <>Imported{problems > 0 && <span>, {problems} not added</span>}</>;
  }
  return (
    <>
      <span>Import </span>
      {state}
    </>
  );
}
