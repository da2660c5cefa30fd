/** Files that are written as a whole or not at all, and read up to a bound. */
export {
  createFile,
  fingerprintOf,
  ignoreMissing,
  MOST_OF_LIST,
  MOST_OF_QUERY,
  readBounded,
  readBoundedSync,
  replaceFile,
  syncFolder,
  systemCode,
} from '../files';
