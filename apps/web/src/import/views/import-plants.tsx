import { createPlantWriter } from '@plant-store/formats';
import { plantColumns } from '@plant-store/schemas';
import { useRef } from 'react';
import { Button } from '../../controls/button.tsx';
import { useSharedState } from '../../controls/shared-state.ts';
import { FileImportView } from './file-import-view.tsx';
import { ImportPreviewView } from './import-preview-view.tsx';
import './import-plants.css';
import { saveFile } from '../../controls/save-file.ts';
import type { Imports } from '../imports.ts';
import { fileTypes } from '../open-file.ts';

const { createdAt: _, ...columns } = plantColumns;
const { header, row } = createPlantWriter('csv', columns);

function saveSample(): void {
  const plants = [
    { id: 1, name: 'Hoya carnosa', tag: 'Apocynaceae' },
    { id: 2, name: 'Ficus lyrata' },
  ];
  saveFile('plants.csv', new Blob([header, ...plants.map(row)]));
}

/** Adds the plants of files, and shows the progress of each import. */
export function ImportPlants({ imports }: { imports: Imports }) {
  const all = useSharedState(imports.list);
  const chosen = all.filter(({ state }) => state === 'chosen');
  const others = all.filter(({ state }) => state !== 'chosen');
  return (
    <>
      {chosen.map((each) => (
        <ImportPreviewView key={each.id} current={each} imports={imports} />
      ))}
      {chosen.length > 0 && (
        <div className="sheet-actions row">
          <Button kind="primary" onClick={imports.start}>
            {chosen.length === 1 ? 'Add the plants' : `Add the plants of ${chosen.length} files`}
          </Button>
        </div>
      )}
      {others.map((each) => (
        <FileImportView key={each.id} current={each} imports={imports} />
      ))}
      <FileChoice onFiles={imports.choose} />
    </>
  );
}

function FileChoice({ onFiles }: { onFiles(files: readonly File[]): void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="file-choice">
      <p className="file-hint">Drop files anywhere on this page, or choose them.</p>
      <Button onClick={() => input.current?.click()}>Choose files …</Button>
      <input
        ref={input}
        hidden
        type="file"
        multiple
        accept={fileTypes}
        aria-label="Files with plants"
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          target.value = ''; // Otherwise, choosing the same file again would send no event.
        }}
      />
      <Button kind="quiet" onClick={saveSample}>
        Save a sample file
      </Button>
      <p className="help">
        <strong>CSV</strong> with the first row <code>{header.trim()}</code>
        <br />
        <strong>NDJSON</strong> with lines like <code>{'{"id":1,"name":"Hoya"}'}</code>
      </p>
    </div>
  );
}
