import { byteOrderMark } from '@plant-store/formats';
import { useId } from 'react';
import { Button } from '../../controls/button.tsx';
import { saveFile } from '../../controls/save-file.ts';
import { countOf, number } from '../../plants/plant-text.tsx';
import { ErrorAlert } from '../../store/error-alert.tsx';
import { type FileImport, isActive, percentOf, rejectsName, summaryOf } from '../file-import.ts';
import type { ImportCounts } from '../import-step.ts';
import { ColumnChoice, type FileViewProps } from './column-choice.tsx';
import { shortReason, Warnings } from './import-preview-view.tsx';

const titles: Record<FileImport['state'], string> = {
  opening: 'Opening',
  chosen: '',
  queued: 'Next:',
  running: 'Adding the plants of',
  waiting: 'Waiting for the server to add the plants of',
  done: 'Finished',
  cancelled: 'Cancelled',
  failed: 'Stopped at an error in',
};

/** Shows the progress of an import, or its result. */
export function FileImportView({ current, imports }: FileViewProps) {
  const { file, state, counts, reason, warnings, rowsPerSecond } = current;
  const { outcome, attention } = summaryOf([current]);
  const isRead = counts.lines > 0;
  const id = useId();
  return (
    <section aria-label={`Import of ${file.name}`} className="import-progress">
      <div className="import-title">
        <label htmlFor={id}>
          {titles[state]} <bdi>{file.name}</bdi>
        </label>
        <span>{percentOf(current)}%</span>
      </div>
      <progress
        id={id}
        max="100"
        value={percentOf(current)}
        data-state={attention === '' ? state : 'attention'}
      />
      <p role="status" className="import-counts">
        {isRead && [outcome, attention].filter(Boolean).join(', ')}
      </p>
      {isActive(current) && rowsPerSecond !== undefined && (
        <p className="import-counts">{number.format(Math.round(rowsPerSecond))} rows a second</p>
      )}
      <ErrorAlert error={reason} />
      {state === 'failed' && !isRead && <ColumnChoice current={current} imports={imports} />}
      <Warnings texts={warnings} />
      <div className="sheet-actions row">
        {current.rejects.length > 0 && !isActive(current) && (
          <Button onClick={() => saveRejects(current)}>Save the rejected rows …</Button>
        )}
        <Button onClick={() => imports.remove(file)}>
          {isActive(current) ? 'Cancel' : 'Remove'}
        </Button>
      </div>
      {isRead && (
        <details className="import-details">
          <summary>Details</summary>
          <p className="import-counts">{outcomes(counts)}</p>
          <p className="import-counts">{linesText(counts)}</p>
          <RejectedRows current={current} />
        </details>
      )}
    </section>
  );
}

function saveRejects({ file, rejects }: FileImport): void {
  const name = rejectsName(file);
  saveFile(name, new Blob([name.endsWith('.csv') ? byteOrderMark : '', ...rejects]));
}

function outcomes({ added, present, taken, rejected }: ImportCounts): string {
  const counts = { added, 'already there': present, 'with a taken id': taken, rejected };
  return Object.entries(counts)
    .map(([name, count]) => `${number.format(count)} ${name}`)
    .join(', ');
}

/** Says how many lines of the file were read, in total and for each kind of line. */
function linesText({ lines, rows, header, blank, continued }: ImportCounts): string {
  const parts = [
    rows > 0 && countOf(rows, { noun: 'row' }),
    header > 0 && `${number.format(header)} header`,
    blank > 0 && `${number.format(blank)} blank`,
    continued > 0 && `${number.format(continued)} inside quoted fields`,
  ];
  return `${countOf(lines, { noun: 'line' })}: ${parts.filter(Boolean).join(', ')}`;
}

function RejectedRows({ current: { counts, rejectedRows } }: { current: FileImport }) {
  if (rejectedRows.length === 0) return null;
  const isPart = rejectedRows.length < counts.taken + counts.rejected;
  return (
    <section aria-label="Rejected rows">
      <h3 className="rejected-title">
        Rows that are not added
        {isPart && `, the first ${number.format(rejectedRows.length)}`}
      </h3>
      <table className="import-table rejected-rows">
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {rejectedRows.map(({ line, reason }) => (
            <tr key={line}>
              <td>{line}</td>
              <td>{shortReason(reason)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
