// Only files need these parts, which check each row with the schemas of the store.
export { ImportPlants } from '../import/import-plants.tsx';
export { ExportPlants } from '../plants/export-plants.tsx';
export { savePlants } from '../plants/save-plants.ts';
