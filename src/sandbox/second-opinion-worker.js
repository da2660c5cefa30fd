// @ts-check
/**
 * The worker behind second-opinion.ts. Plain JavaScript, because Node starts it as a file of its own, from the sources
 * under test and from the build alike.
 */
const { readlinkSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
const { Parser } = require('node-sql-parser/build/bigquery');

const parser = new Parser();

/** The constructs of common log queries, for V8 to compile the parser's rules ahead of the first text. */
const WARM_UP = `
  with a as (
    select id, t.timestamp as at, cast(r.status_code as string) as status, null as extra,
      case when r.status_code between 200 and 299 then 'x' when r.status_code >= 500 or p.role in ('x', 'x') then 'x' else 'x' end as level,
      coalesce(json_value(event_message, 'x'), 'x') as action, safe_cast(json_value(t.event_message, 'x') as float64) / 1000.0 as ms
    from edge_logs as t cross join unnest(metadata) as m cross join unnest(m.response) as r
      left join unnest(coalesce(m.request, [])) as p on true
    where t.timestamp > 'x' and not regexp_contains(event_message, 'x') and p.path not like 'x' and t.id is not null
  ), b as (select at, count(distinct if(level = 'x', id, null)) as ids, countif(status = 'x') as n from a group by at)
  select timestamp_trunc(at, hour) as at, sum(n) as n, max(ids) as ids from b group by at
  union all select at, 1, ids from b order by at desc limit 100`;

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

/** This thread's number to Linux; null elsewhere. */
function threadName() {
  try {
    return readlinkSync('/proc/thread-self').split('/').at(-1) ?? null;
  } catch {
    return null;
  }
}

/**
 * null: the parser cannot read it.
 *
 * @param {string} text
 */
function opinion(text) {
  try {
    return read(parser.astify(text, { database: 'bigquery' }));
  } catch {
    return null;
  }
}

if (parentPort === null) throw new Error('This file runs as a worker.');
const port = parentPort;
port.on('message', (/** @type {string} */ text) => port.postMessage({ answer: opinion(text) }));
// Its first texts would take three times as long as later ones, and Studio's longest come near the deadline.
for (let i = 0; i < 8; i++) parser.astify(WARM_UP, { database: 'bigquery' });
port.postMessage({ ready: true, thread: threadName() });
