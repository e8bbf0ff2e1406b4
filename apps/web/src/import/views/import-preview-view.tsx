import { columnText, plantColumns, shorten } from '@plant-store/schemas';
import { Button } from '../../controls/button.tsx';
import { PlantText } from '../../plants/plant-text.tsx';
import { capitalized } from '../../store/explain-error.ts';
import type { CheckedRow } from '../open-file.ts';
import { ColumnChoice, type FileViewProps } from './column-choice.tsx';
import './import-preview.css';

/** The store sets the creation time of a new plant, so the preview leaves out the column created_at. */
const { createdAt: _, ...shownColumns } = plantColumns;
const fields = Object.entries(shownColumns);

/** Shows the plants that the store would create from the first rows of a file. */
export function ImportPreviewView({ current, imports }: FileViewProps) {
  const { file, preview } = current;
  if (!preview) return null;
  const { format, columns, rows, hasTimes, warnings } = preview;
  return (
    <section aria-label={`Preview of ${file.name}`} className="import-preview">
      <div className="import-title">
        <h3>
          <bdi>{file.name}</bdi>
        </h3>
        <Button
          kind="quiet"
          onClick={() => imports.remove(file)}
          aria-label={`Remove ${file.name}`}
        >
          Remove
        </Button>
      </div>
      <ColumnChoice current={current} imports={imports} />
      <p>
        {format}
        {columns.length > 0 && <> with the columns {columns.join(', ')}</>}. Preview of the first
        rows:
      </p>
      <div className="first-rows">
        <table className="import-table">
          <thead>
            <tr>
              <th scope="col">Line</th>
              {fields.map(([, { name }]) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((each) => (
              <FirstRow key={each.row.line} checked={each} />
            ))}
          </tbody>
        </table>
      </div>
      {hasTimes && (
        <p className="alert import-warning">
          The times of the column created_at are not kept, because each plant gets the time at which
          you add the plant here. To keep the times, use the command{' '}
          <code>plant-store import {JSON.stringify(file.name)}</code>.
        </p>
      )}
      <Warnings texts={warnings} />
    </section>
  );
}

function FirstRow({ checked: { row, plant, reason } }: { checked: CheckedRow }) {
  return (
    <tr>
      <td>{row.line}</td>
      {plant ? (
        fields.map(([field, { kind }]) => (
          <td key={field} data-kind={kind}>
            {textOf(plant, field)}
          </td>
        ))
      ) : (
        <td colSpan={fields.length} className="first-rejected">
          Rejected: {shortReason(reason)}
        </td>
      )}
    </tr>
  );
}

function textOf(plant: object, field: string) {
  // The cast is safe, because `columnText` accepts the properties of every plant.
  const value = (plant as Record<string, Parameters<typeof columnText>[0] | undefined>)[field];
  if (value === undefined) return <span className="visually-hidden">missing</span>;
  return <PlantText text={shorten(columnText(value))} />;
}

export function Warnings({ texts }: { texts: readonly string[] }) {
  return texts.map((text) => (
    <p key={text} className="alert import-warning">
      {capitalized(text)}
    </p>
  ));
}

/** Shortens a reason for users: removes the words "invalid input" and the message of the JSON parser. */
export function shortReason(reason: string | undefined): string {
  return reason?.replace(/^invalid input: /, '').replace(/^(is not JSON): .*/s, '$1') ?? '';
}
