import { columnNames } from '@plant-store/formats';
import { useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Field } from '../ui/field.tsx';
import { saveFile } from '../ui/save-file.ts';
import styles from './import.module.css';

const sample = '\ufeffnumber,name,tag\n1,Hoya carnosa,Apocynaceae\n2,Ficus lyrata,\n';

/** The first step: the user drops, chooses or pastes the rows. */
export function ChooseView({ onFile }: { onFile(file: File): void }) {
  const input = useRef<HTMLInputElement>(null);
  const [pasted, setPasted] = useState('');
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
        <ul className={styles.columns}>
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
      <div className="stack">
        <Field
          label="Or paste rows of a spreadsheet"
          hint="With the line of column names"
          value={pasted}
          onChange={setPasted}
          isMultiline
        />
        <div className="row">
          <Button
            disabled={pasted.trim() === ''}
            onClick={() => onFile(new File([pasted], 'Pasted rows'))}
          >
            Check the rows
          </Button>
        </div>
      </div>
    </>
  );
}
