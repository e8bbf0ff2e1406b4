import { useId, useRef } from 'react';
import { Button } from '../controls/button.tsx';
import './import-plants.css';
import type { RejectedRow } from './import-file.ts';
import { fileTypes } from './read-rows.ts';
import type { ImportState } from './use-import.ts';

interface ImportPlantsProps {
  current: ImportState | undefined;
  onFile(file: File): void;
  onCancel(): void;
}

/** Adds the plants of a file, and shows how that goes. */
export function ImportPlants({ current, onFile, onCancel }: ImportPlantsProps) {
  const isRunning = current?.state === 'running' || current?.state === 'waiting';
  return (
    <>
      {!isRunning && <FileChoice onFile={onFile} />}
      {current && <ImportProgress current={current} />}
      {isRunning && (
        <div className="sheet-actions">
          <Button onClick={onCancel}>Cancel</Button>
        </div>
      )}
      {current && <RejectedRows count={current.rejected} rows={current.rejectedRows} />}
    </>
  );
}

function FileChoice({ onFile }: Pick<ImportPlantsProps, 'onFile'>) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="file-choice">
      <p>Drop a file anywhere on this page, or choose one.</p>
      <Button kind="primary" onClick={() => input.current?.click()}>
        Choose a file …
      </Button>
      <input
        ref={input}
        className="visually-hidden"
        type="file"
        accept={fileTypes}
        aria-label="File with plants"
        tabIndex={-1}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) onFile(file);
          target.value = ''; // The same file can be chosen again.
        }}
      />
      <p className="file-formats">
        <strong>NDJSON</strong>: a line for each plant, <code>{'{"id":1,"name":"Hoya"}'}</code>.{' '}
        <strong>CSV</strong>: a first row <code>id,name,tag</code>, then a row for each plant.
      </p>
    </div>
  );
}

const number = new Intl.NumberFormat();

const titles: Record<ImportState['state'], string> = {
  running: 'Adding the plants of',
  waiting: 'Waiting for the server, to go on with',
  done: 'Finished',
  cancelled: 'Cancelled',
  failed: 'Stopped at an error in',
};

function ImportProgress({ current }: { current: ImportState }) {
  const { file, state, bytes, created, rejected, reason, ignored } = current;
  const id = useId();
  const done = state === 'done' ? 1 : Math.min(1, bytes / Math.max(1, file.size));
  const percent = Math.floor(done * 100);
  return (
    <section aria-label="Progress" className="import-progress">
      <div className="import-title">
        <label htmlFor={id}>
          {titles[state]} {file.name}
        </label>
        <span>{percent}%</span>
      </div>
      <progress id={id} max="100" value={percent} data-state={state} />
      <p role="status" className="import-counts">
        {number.format(created)} added, {number.format(rejected)} rejected
      </p>
      {reason && (
        <p className="alert" role="alert">
          {reason}
        </p>
      )}
      {ignored !== undefined && (
        <p className="alert" role="alert">
          {ignored} is not added, because the console adds one file at a time. Drop it again when
          this one is finished.
        </p>
      )}
    </section>
  );
}

function RejectedRows({ count, rows }: { count: number; rows: readonly RejectedRow[] }) {
  if (count === 0) return null;
  return (
    <section aria-labelledby="rejected-rows">
      <h3 id="rejected-rows" className="rejected-title">
        Rejected rows
        {rows.length < count && `, the first ${number.format(rows.length)}`}
      </h3>
      <table className="rejected-rows">
        <thead>
          <tr>
            <th scope="col">Row</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, reason }) => (
            <tr key={row}>
              <td>{row}</td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
