import { plantColumns } from '@plant-store/schemas';
import type { FileImport } from '../file-import.ts';
import type { Imports } from '../imports.ts';

export interface FileViewProps {
  current: FileImport;
  imports: Imports;
}

/** Lets the user choose columns for the properties whose names are missing in the header of a CSV file. */
export function ColumnChoice({ current, imports }: FileViewProps) {
  const { file, header, columns } = current;
  const known = Object.entries(plantColumns).map(([field, column]) => ({ ...column, field }));
  const fieldOf = (text: string) => {
    // A file for spreadsheet programs has the header `'id` for the column `id`.
    const name = text.toLowerCase().replace(/^'/, '');
    return known.find((each) => each.name === name || each.field.toLowerCase() === name)?.field;
  };
  const named = new Set([...header.map(fieldOf), 'createdAt']);
  const missing = known.filter(({ field }) => !named.has(field));
  const unknown = header.filter((name) => name !== '' && fieldOf(name) === undefined);
  if (missing.length === 0 || unknown.length === 0) return null;
  return (
    <fieldset className="column-choice row">
      <legend className="field-label">
        Columns of <bdi>{file.name}</bdi>
      </legend>
      {missing.map(({ field, name, isOptional }) => (
        <label key={field}>
          <span>{name}</span>
          <select
            className="field-input"
            value={columns[field]?.name}
            onChange={({ target }) => imports.chooseColumn(current, field, target.value)}
          >
            <option value={name}>{isOptional ? 'no column' : 'choose …'}</option>
            {unknown.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
      ))}
    </fieldset>
  );
}
