/** Rows written as Parquet, by a process that ends with them. */
export { checkParquet, Encoder, type TakeBytes } from '../parquet-writer/encoder';
export { type Column, columnOf, type ExportFile } from '../parquet-writer/opening';
export { sendWrittenFile } from '../parquet-writer/written-file';
