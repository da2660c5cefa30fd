/** The same in this process, for one query or for schemas alone: loads DuckDB. */
export { openDuckDbEngine } from '../engine/engine';
export { openSchemaEngine } from '../engine/schema-engine';
