import { Fragment } from 'react';
import type { FileImport } from '../file-import.ts';

/** Shows the file names of imports, such as "a.csv and b.csv". */
export function FileNames({ imports }: { imports: readonly FileImport[] }) {
  return imports.map(({ id, file }, i) => (
    <Fragment key={id}>
      {i > 0 && ' and '}
      <bdi>{file.name}</bdi>
    </Fragment>
  ));
}
