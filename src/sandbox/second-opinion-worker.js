// @ts-check
/**
 * The worker behind second-opinion.ts. Plain JavaScript, because Node starts it as a file of its own, from the sources
 * under test and from the build alike.
 */
const { parentPort } = require('node:worker_threads');
const { Parser } = require('node-sql-parser/build/bigquery');

const parser = new Parser();

/**
 * Every FROM name and every function in a parse tree, in lower case, parts joined by dots. The tree has no useful
 * type, so all of it is searched: an object with a `table` inside a `from` list is a table, one of type `function` or
 * `aggr_func` a call.
 *
 * @param {unknown} tree
 */
function read(tree) {
  /** @type {Set<string>} */
  const tables = new Set();
  /** @type {Set<string>} */
  const functions = new Set();
  /** @type {unknown[]} */
  const open = [tree];
  while (open.length > 0) {
    const node = open.pop();
    if (Array.isArray(node)) {
      open.push(...node);
    } else if (typeof node === 'object' && node !== null) {
      const fields = /** @type {Record<string, unknown>} */ (node);
      if (Array.isArray(fields.from)) for (const item of fields.from) addTable(item, tables);
      if (fields.type === 'function' || fields.type === 'aggr_func') functions.add(functionName(fields.name));
      open.push(...Object.values(fields));
    }
  }
  return { tables: [...tables], functions: [...functions] };
}

/**
 * @param {unknown} item
 * @param {Set<string>} tables
 */
function addTable(item, tables) {
  if (typeof item !== 'object' || item === null) return;
  const { schema, db, table, type } = /** @type {Record<string, unknown>} */ (item);
  if (typeof table !== 'string' || type === 'unnest') return;
  tables.add(
    [schema, db, table]
      .filter((part) => typeof part === 'string')
      .join('.')
      .toLowerCase(),
  );
}

/**
 * A name is text, or a list of parts behind an optional schema.
 *
 * @param {unknown} name
 */
function functionName(name) {
  if (typeof name === 'string') return name.toLowerCase();
  if (typeof name !== 'object' || name === null) return '';
  const { schema, name: parts } = /** @type {{ schema?: { value?: unknown }, name?: { value?: unknown }[] }} */ (name);
  return [schema, ...(parts ?? [])]
    .map((part) => part?.value)
    .filter((part) => typeof part === 'string')
    .join('.')
    .toLowerCase();
}

if (parentPort === null) throw new Error('This file runs as a worker.');
const port = parentPort;
port.on('message', (/** @type {{ id: number, text: string }} */ { id, text }) => {
  // The deadline counts from here: the main thread starts it when it hears that the text was taken up.
  port.postMessage({ id, taken: true });
  try {
    port.postMessage({ id, reading: read(parser.astify(text, { database: 'bigquery' })) });
  } catch {
    port.postMessage({ id, reading: null });
  }
});
port.postMessage({ ready: true });
