import { useEffect } from 'react';
import { filterOf, type PlantFilter } from '../../address/address.ts';
import { Button } from '../../controls/button.tsx';
import { ErrorAlert } from '../../store/error-alert.tsx';
import { FilterText } from '../filter-text.tsx';
import { countOf } from '../plant-text.tsx';
import type { Export } from './use-export.ts';

const formats = { CSV: 'csv', 'CSV for spreadsheets': 'spreadsheet', NDJSON: 'ndjson' } as const;

interface ExportPlantsProps {
  current: Export;
  filter: PlantFilter;
}

/** Saves the plants of the table as a file, and shows the progress. */
export function ExportPlants({ current, filter }: ExportPlantsProps) {
  const { state, isRunning, error, options, count, start, cancel, forget } = current;
  useEffect(() => forget, [forget]);
  const shown = (isRunning && options?.filter) || filter;
  return (
    <>
      <p>
        {Object.keys(filterOf(shown)).length === 0 ? 'All plants' : 'The plants'}
        <FilterText {...shown} />, ascending by id, with the times of their creation. The command{' '}
        <code>plant-store import</code> keeps these times. Here, you can add the plants with new
        times.
      </p>
      <div className="sheet-actions row">
        {Object.entries(formats).map(([label, format]) => (
          <Button key={format} disabled={isRunning} onClick={() => start({ format, filter })}>
            Save as {label}
          </Button>
        ))}
        {isRunning && <Button onClick={cancel}>Cancel</Button>}
      </div>
      <p role="status">
        {isRunning && `Saving: ${countOf(count)} …`}
        {state === 'success' && `Saved ${countOf(count)}`}
        {state === 'cancelled' && 'Cancelled. No file is saved.'}
      </p>
      {state === 'error' && <ErrorAlert start="The file is not saved." error={error} />}
    </>
  );
}

const chipTexts = { success: 'Exported', cancelled: 'Export cancelled', error: 'Export failed' };

/** Part of the header: shows the progress of the export. */
export function ExportChip({ current, onOpen }: { current: Export; onOpen(): void }) {
  const { state, count } = current;
  if (state === 'idle') return null;
  return (
    <Button
      kind="progress"
      data-warning={state === 'error' || undefined}
      onClick={onOpen}
      icon="download"
    >
      {state === 'pending' ? `Exporting: ${countOf(count)}` : chipTexts[state]}
    </Button>
  );
}
