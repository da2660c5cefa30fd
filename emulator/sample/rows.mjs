// @ts-check
/** Made-up log rows: the same for the same instant, made to fit `schema.json` field by field. */
import { readFileSync } from 'node:fs';
import { WORDS } from './words.mjs';

/** @typedef {import('./folder.mjs').TableField} TableField */
/** @typedef {import('./folder.mjs').SourceTable} SourceTable */
/** @typedef {() => number} Random */
/** @typedef {{ random: Random, at: Date, project: string }} Moment */

const ROWS = 60;
const WEEK = 7 * 24 * 3600_000;
const PROJECTS = ['default', 'default', 'default', 'other'];

/**
 * The nine log tables with sixty rows each, from a week before `now` up to it, half of them in its last hour.
 * @param {Date} now
 * @returns {SourceTable[]}
 */
export function sampleTables(now) {
  /** @type {Record<string, { fields: TableField[] }>} */
  const schema = JSON.parse(readFileSync(new URL('schema.json', import.meta.url), 'utf8'));
  return Object.entries(schema).map(([id, { fields }], table) => {
    const random = generator(table + 1);
    const lines = Array.from({ length: ROWS }, (_, i) => {
      const age = i < ROWS / 2 ? random() * 3600_000 : random() * WEEK;
      const moment = { random, at: new Date(now.getTime() - age), project: pick(random, PROJECTS) };
      return JSON.stringify(sampleRow(id, fields, moment));
    });
    return { id, fields, lines };
  });
}

/** @param {string} id @param {TableField[]} fields @param {Moment} moment */
function sampleRow(id, fields, moment) {
  const row = record(fields, moment);
  const metadata = /** @type {Record<string, any>} */ (/** @type {any[]} */ (row['metadata'])[0]);
  // What belongs together: the project where the table keeps it, the parts of a request, and the message made of them.
  for (const name of ['project', 'project_ref']) if (name in metadata) metadata[name] = moment.project;
  const request = metadata['request']?.[0] ?? metadata['req']?.[0];
  const response = metadata['response']?.[0] ?? metadata['res']?.[0];
  if (request !== undefined) {
    const path = request.path ?? request.pathname ?? request.url;
    const host = `${moment.project}.api.example.com`;
    if ('host' in request) request.host = host;
    if ('protocol' in request) request.url = `https://${host}${path}${request.search ?? ''}`;
    row['event_message'] = `${request.method} | ${response?.status_code ?? response?.statusCode} | ${request.url}`;
  } else row['event_message'] = pick(moment.random, WORDS.messages[id] ?? ['ready']);
  return row;
}

/** @param {TableField[]} fields @param {Moment} moment @returns {Record<string, unknown>} */
function record(fields, moment) {
  return Object.fromEntries(fields.map((field) => [field.name, repeated(field, moment)]));
}

/** @param {TableField} field @param {Moment} moment */
function repeated(field, moment) {
  return field.mode === 'REPEATED' ? [value(field, moment)] : value(field, moment);
}

/** @param {TableField} field @param {Moment} moment @returns {unknown} */
function value(field, moment) {
  const { random, at } = moment;
  switch (field.type) {
    case 'RECORD':
      return record(field.fields ?? [], moment);
    case 'TIMESTAMP':
      return at.toISOString();
    case 'INTEGER':
      return pick(random, WORDS.integers[field.name] ?? [Math.floor(random() * 1000)]);
    case 'FLOAT':
      return Math.round(random() * 1e6) / 1e3;
    case 'BOOLEAN':
      return random() < 0.5;
    default:
      return text(field, moment);
  }
}

/** @param {TableField} field @param {Moment} moment */
function text(field, { random, at, project }) {
  const known = WORDS.strings[field.name];
  if (known !== undefined) return pick(random, known);
  if (field.name === 'project') return project;
  if (/(^|_)id$|^reqId$/.test(field.name)) return uuid(random);
  if (/time(stamp)?$/.test(field.name)) return at.toISOString();
  return field.mode === 'REQUIRED' || field.mode === 'REPEATED' ? field.name : null;
}

/** @template T @param {Random} random @param {readonly T[]} list @returns {T} */
function pick(random, list) {
  return /** @type {T} */ (list[Math.floor(random() * list.length)]);
}

/** @param {Random} random */
function uuid(random) {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** A linear congruential generator modulo 2^31: poor, and enough. @param {number} seed @returns {Random} */
function generator(seed) {
  let state = seed * 7919;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x80000000;
  };
}
