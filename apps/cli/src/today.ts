export {
  createPlantWriter,
  FileError,
  readPlants,
  reasonOf,
} from '@plant-store/formats';
export { decompressors } from '@plant-store/formats/node';
