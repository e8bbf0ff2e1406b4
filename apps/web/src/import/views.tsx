import type { FileFacts } from '@plant-store/formats';
import type { NewPlant } from '@plant-store/schemas';
import type { ReactNode } from 'react';
import { Button } from '../ui/button.tsx';
import { ClientText, countOf, number } from '../ui/client-text.tsx';
import { saveFile } from '../ui/copy-and-save.ts';
import type { CheckedFile, RejectedRow } from './check-file.ts';
import styles from './import.module.css';
import type { Progress } from './send-plants.ts';

/** The console shows at most this number of rejected rows. The user can save all of them. */
const mostRejected = 100;

const delimiters = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/** Says how the file was read, such as "semicolons, Windows-1252". */
function describe({ delimiter, encoding, format }: FileFacts): string {
  const shape = delimiter ? delimiters[delimiter] : format === 'ndjson' && 'NDJSON';
  const names = { 'utf-8': '', 'windows-1252': 'Windows-1252' };
  return [shape, names[encoding as keyof typeof names] ?? 'UTF-16'].filter(Boolean).join(', ');
}

interface CheckViewProps {
  checked: CheckedFile;
  onImport(): void;
  onAgain(): void;
}

/** The second step: what the file contains. Nothing is sent yet. */
export function CheckView({ checked, onImport, onAgain }: CheckViewProps) {
  const { file, facts, goodCount, good, bad } = checked;
  const how = describe(facts);
  return (
    <>
      <p role="status">
        <bdi>{file.name}</bdi>
        {how && `: ${how}`}.{' '}
        <strong>
          {number.format(goodCount)} ready
          {bad.length > 0 && `, ${number.format(bad.length)} not`}
        </strong>
        .
      </p>
      {facts.encoding === 'windows-1252' && (
        <p className="warning">
          The file is not UTF-8, so it is read as Windows-1252, which Excel on Windows writes. Check
          that the letters in the names are right.
        </p>
      )}
      {[...facts.notes].map((note) => (
        <p key={note} className="warning">
          {note}
        </p>
      ))}
      <div className="row">
        {goodCount > 0 && (
          <Button kind="primary" data-focus onClick={onImport}>
            Import {number.format(goodCount)}
          </Button>
        )}
        <SaveRejected checked={checked} rejected={bad} />
        <Button onClick={onAgain}>Choose another</Button>
      </div>
      <RejectedTable rejected={bad} />
      {goodCount > 0 && (
        <RowTable
          caption={`Ready${good.length < goodCount ? `, the first ${good.length}` : ''}`}
          columns={['Line', 'Number', 'Name', 'Tag']}
        >
          {good.map(({ line, plant }) => (
            <tr key={line}>
              <td>{line}</td>
              <td>
                <code>{String(plant?.id)}</code>
              </td>
              <td>
                <ClientText text={plant?.name.slice(0, 200) ?? ''} />
              </td>
              <td>{plant?.tag !== undefined && <ClientText text={plant.tag.slice(0, 200)} />}</td>
            </tr>
          ))}
        </RowTable>
      )}
    </>
  );
}

interface ProgressViewProps {
  file: File;
  progress: Progress | undefined;
  onStop(): void;
}

/** The third step: a bar and the numbers. */
export function ProgressView({ file, progress, onStop }: ProgressViewProps) {
  const isWaiting = progress?.isWaiting ?? false;
  return (
    <>
      <p>
        Importing <bdi>{file.name}</bdi>
      </p>
      <progress aria-label="Import" max={file.size} value={progress?.bytes ?? 0} />
      <p>{progress && counts(progress)}</p>
      <p role="status" className={isWaiting ? 'warning' : undefined}>
        {isWaiting && 'The store does not respond. The import goes on as soon as it does.'}
      </p>
      <div className="row">
        <Button data-focus onClick={onStop}>
          Stop
        </Button>
      </div>
    </>
  );
}

function counts({ added, present, rejected }: Progress): string {
  const parts = [
    `${number.format(added)} added`,
    present > 0 && `${number.format(present)} already there`,
    rejected.length > 0 && `${number.format(rejected.length)} not imported`,
  ];
  return parts.filter(Boolean).join(', ');
}

interface DoneViewProps {
  checked: CheckedFile;
  progress: Progress;
  onShow(plants: readonly NewPlant[]): void;
  onAgain(): void;
  onClose(): void;
}

/** The fourth step: what was done. */
export function DoneView({ checked, progress, onShow, onAgain, onClose }: DoneViewProps) {
  const { added, present, rejected, first } = progress;
  const unsent = checked.goodCount + checked.bad.length - added - present - rejected.length;
  return (
    <>
      <p role="status">
        {unsent === 0 ? 'Imported ' : 'Stopped '}
        <bdi>{checked.file.name}</bdi>: <strong>{counts(progress)}</strong>.
      </p>
      {unsent > 0 && (
        <p className="warning">
          {countOf(unsent)} were not sent. Import the same file again to go on: plants that are
          already there stay as they are.
        </p>
      )}
      <div className="row">
        {added > 0 && (
          <Button kind="primary" data-focus onClick={() => onShow(first)}>
            Show the new plants
          </Button>
        )}
        <SaveRejected checked={checked} rejected={rejected} />
        <Button onClick={onAgain}>Import another file</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
      <RejectedTable rejected={rejected} />
    </>
  );
}

/** The rows that are not imported, each with its line and its reason. */
function RejectedTable({ rejected }: { rejected: readonly RejectedRow[] }) {
  if (rejected.length === 0) return null;
  const shown = rejected.slice(0, mostRejected);
  const part = shown.length < rejected.length ? `, the first ${shown.length}` : '';
  return (
    <RowTable caption={`Not imported${part}`} columns={['Line', 'Reason']}>
      {shown.map(({ line, reason }) => (
        <tr key={line}>
          <td>{line}</td>
          <td className={styles.reason}>{reason.slice(0, 300)}</td>
        </tr>
      ))}
    </RowTable>
  );
}

interface RowTableProps {
  caption: string;
  columns: readonly string[];
  children: ReactNode;
}

function RowTable({ caption, columns, children }: RowTableProps) {
  return (
    <table className={styles.table}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

interface SaveRejectedProps {
  checked: CheckedFile;
  rejected: readonly RejectedRow[];
}

/** Saves the rejected rows in the format of the file, so that the user can mend and import them. */
function SaveRejected({ checked: { file, facts }, rejected }: SaveRejectedProps) {
  if (rejected.length === 0) return null;
  const base = file.name.replace(/(\.rejects)?(\.\w{1,6}){0,2}$/, '');
  const name = `${base}.rejects.${facts.format ?? 'csv'}`;
  const save = () =>
    saveFile(name, [facts.rejectsStart, ...rejected.map(({ text }) => `${text}\n`)]);
  return (
    <Button icon="download" onClick={save}>
      Save the {number.format(rejected.length)} as a file
    </Button>
  );
}
