import { columnNames, type FileFacts } from '@plant-store/formats';
import type { NewPlant } from '@plant-store/schemas';
import type { ChangeEvent, FormEvent } from 'react';
import { saveFile } from '../ui/browser.ts';
import { Button } from '../ui/button.tsx';
import { countOf, number, PlantInLine } from '../ui/client-text.tsx';
import { Field, TextArea } from '../ui/field.tsx';
import type { CheckedFile, Progress, RejectedRow } from './import-file.ts';

const sample = '\ufeffnumber,name,tag\n1,Hoya carnosa,Apocynaceae\n2,Ficus lyrata,\n';

/** The first step: the user drops, chooses or pastes the rows. */
export function ChooseView({ onFile }: { onFile(file: File): void }) {
  const onChoose = ({ target }: ChangeEvent<HTMLInputElement>) => {
    const [file] = target.files ?? [];
    if (file) onFile(file);
    target.value = ''; // Otherwise, choosing the same file again would fire no event.
  };
  const onPaste = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const rows = new FormData(event.currentTarget).get('rows') ?? '';
    onFile(new File([rows], 'Pasted rows'));
  };
  return (
    <>
      <Field
        label="Choose a file, or drop it here"
        type="file"
        accept=".csv,.tsv,.txt,.ndjson,.jsonl,.gz"
        onChange={onChoose}
      />
      <div className="help">
        <p>Choose a CSV or NDJSON file. The first line of a CSV file names the columns:</p>
        <ul>
          <li>{columnNames.id.toReversed().join(' or ')}: a whole number</li>
          <li>{columnNames.name.join(' or ')}: any text</li>
          <li>{columnNames.tag.join(' or ')}: optional</li>
        </ul>
      </div>
      <div className="row">
        <Button icon="download" onClick={() => saveFile('plants.csv', [sample])}>
          Save a sample file
        </Button>
      </div>
      <form className="stack" onSubmit={onPaste}>
        <TextArea
          label="Or paste rows of a spreadsheet"
          hint="Include the line of column names"
          name="rows"
          required
          rows={3}
        />
        <div className="row">
          <Button type="submit">Check the rows</Button>
        </div>
      </form>
    </>
  );
}

/** The console shows at most this number of rejected rows, but can save all rejected rows. */
const mostRejected = 100;

const delimiters = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/** Describes the format of the file, such as "semicolons, Windows-1252". */
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

/** The second step: shows the content of the file. The console sends nothing yet. */
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
      <RejectedRows rejected={bad} />
      {goodCount > 0 && <h3>Ready{good.length < goodCount && `, the first ${good.length}`}</h3>}
      <ul>
        {good.map(({ line, plant: { id, name, tag } }) => (
          <li key={line}>
            Line {line}: number {String(id)}, <PlantInLine name={name} tag={tag} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface ProgressViewProps {
  checked: CheckedFile;
  progress: Progress;
  onStop(): void;
}

/** The third step: shows the progress of the import. */
export function ProgressView({ checked, progress, onStop }: ProgressViewProps) {
  const { isWaiting } = progress;
  return (
    <>
      <p>
        Importing <bdi>{checked.file.name}</bdi>
      </p>
      <progress aria-label="Import" max={rowsOf(checked)} value={handled(progress)} />
      <p>{counts(progress)}</p>
      <p role="status" className={isWaiting ? 'warning' : undefined}>
        {isWaiting && 'The store does not respond. The import continues when the store responds.'}
      </p>
      <div className="row">
        <Button data-focus onClick={onStop}>
          Stop
        </Button>
      </div>
    </>
  );
}

const rowsOf = ({ goodCount, bad }: CheckedFile) => goodCount + bad.length;

const handled = ({ added, present, rejected }: Progress) => added + present + rejected.length;

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

/** The fourth step: shows the result of the import. */
export function DoneView({ checked, progress, onShow, onAgain, onClose }: DoneViewProps) {
  const { added, rejected, first } = progress;
  const unsent = rowsOf(checked) - handled(progress);
  return (
    <>
      <p role="status">
        {unsent === 0 ? 'Imported ' : 'Stopped '}
        <bdi>{checked.file.name}</bdi>: <strong>{counts(progress)}</strong>.
      </p>
      {unsent > 0 && (
        <p className="warning">
          {countOf(unsent)} were not confirmed. To continue, import the same file again: plants that
          are already in the store stay unchanged.
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
      <RejectedRows rejected={rejected} />
    </>
  );
}

/** Shows the first rows that were not imported, with their lines and the reasons. */
function RejectedRows({ rejected }: { rejected: readonly RejectedRow[] }) {
  if (rejected.length === 0) return null;
  const shown = rejected.slice(0, mostRejected);
  return (
    <>
      <h3>Not imported{shown.length < rejected.length && `, the first ${shown.length}`}</h3>
      <ul>
        {shown.map(({ line, reason }) => (
          <li key={line}>
            Line {line}: <span className="error">{reason.slice(0, 300)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

interface SaveRejectedProps {
  checked: CheckedFile;
  rejected: readonly RejectedRow[];
}

/** Saves the rejected rows in the format of the file, so that the user can correct and import them. */
function SaveRejected({ checked: { file, facts }, rejected }: SaveRejectedProps) {
  if (rejected.length === 0) return null;
  const base = file.name.replace(/(\.rejects)?(\.\w{1,6}){0,2}$/, '');
  const name = `${base}.rejects.${facts.format ?? 'csv'}`;
  const save = () =>
    saveFile(name, [facts.rejectsStart, ...rejected.map(({ text }) => `${text}\n`)]);
  return (
    <Button icon="download" onClick={save}>
      Save the rejected rows ({number.format(rejected.length)})
    </Button>
  );
}
