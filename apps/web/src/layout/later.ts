// The list of plants does not need these parts, so the browser loads this script after the list.
export { importFile } from '../import/import-file.ts';
export { readPreview } from '../import/import-preview.ts';
export { openFile } from '../import/open-file.ts';
export { NoReadAccess } from './empty/no-read-access.tsx';
export { SideView } from './side-view.tsx';
