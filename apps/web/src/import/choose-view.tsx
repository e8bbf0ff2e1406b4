import { columnNames } from '@plant-store/formats';
import { type FormEvent, useRef } from 'react';
import { Button } from '../ui/button.tsx';
import { saveFile } from '../ui/copy-and-save.ts';
import { TextArea } from '../ui/field.tsx';
import styles from './import.module.css';

const sample = '\ufeffnumber,name,tag\n1,Hoya carnosa,Apocynaceae\n2,Ficus lyrata,\n';

/** The first step: the user drops, chooses or pastes the rows. */
export function ChooseView({ onFile }: { onFile(file: File): void }) {
  const input = useRef<HTMLInputElement>(null);
  const checkPasted = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const pasted = new FormData(event.currentTarget).get('rows') ?? '';
    onFile(new File([pasted], 'Pasted rows'));
  };
  return (
    <>
      <div className={styles.choose}>
        <p className={styles.drop}>Drop a file here, or</p>
        <Button kind="primary" icon="upload" data-focus onClick={() => input.current?.click()}>
          Choose a file
        </Button>
        <input
          ref={input}
          hidden
          type="file"
          accept=".csv,.tsv,.txt,.ndjson,.jsonl,.gz"
          aria-label="File of plants"
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file) onFile(file);
            target.value = ''; // Otherwise, choosing the same file again would send no event.
          }}
        />
        <p className="help">A table saved as CSV, or NDJSON. The first line names the columns:</p>
        <ul className="help">
          <li>
            <code>{columnNames.id.toReversed().join(' or ')}</code>, a whole number
          </li>
          <li>
            <code>{columnNames.name.join(' or ')}</code>, any text
          </li>
          <li>
            <code>{columnNames.tag.join(' or ')}</code>, can be left out
          </li>
        </ul>
        <Button kind="quiet" onClick={() => saveFile('plants.csv', [sample])}>
          Save a sample file
        </Button>
      </div>
      <form className="stack" onSubmit={checkPasted}>
        <TextArea
          label="Or paste rows of a spreadsheet"
          hint="With the line of column names"
          name="rows"
          required
          rows={3}
          onKeyDown={() => {}} // In a list of rows, Enter begins the next row.
        />
        <div className="row">
          <Button type="submit">Check the rows</Button>
        </div>
      </form>
    </>
  );
}
