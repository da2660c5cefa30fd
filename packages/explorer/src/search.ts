/** What is looked at: endpoint, parameters, range and query. All of it is in the address. */
import { computed, signal } from '@preact/signals';

import type { EndpointDescription, ParameterDescription } from './api';
import { type Zone, type Bounds, readRange, type TimeRange, writeRange } from './time-range';
import { endpoints } from './session';

export type Language = 'lql' | 'sql';
const CHART_FORMS = ['lines', 'stacked'] as const;
/** How numbers are drawn over time. */
export type ChartForm = (typeof CHART_FORMS)[number];

/** One search, as the address holds it. */
export interface Search {
  readonly endpoint: string;
  /** By parameter, without those of the range and those that the key pins. */
  readonly values: ReadonlyMap<string, string>;
  readonly range: TimeRange;
  readonly language: Language;
  readonly query: string;
  readonly zone: Zone;
  /** Columns beside time and message, as paths with dots. */
  readonly columns: readonly string[];
  /** The table that a line of LQL without `f:` is about; empty: the first. */
  readonly table: string;
  /** The id of the row that is opened once it is there; empty: none. */
  readonly row: string;
  /** How numbers are drawn over time; null: as suits them. */
  readonly chart: ChartForm | null;
}

const FIRST: Search = {
  endpoint: '',
  values: new Map(),
  range: { kind: 'last', milliseconds: 3_600_000 },
  language: 'lql',
  query: '',
  zone: 'utc',
  columns: [],
  table: '',
  row: '',
  chart: null,
};

export const search = signal<Search>(readFragment(location.hash));

/** null: the catalogue has not come, or has nothing. */
export const endpoint = computed<EndpointDescription | null>(() => {
  const all = endpoints.value ?? [];
  return all.find(({ name }) => name === search.value.endpoint) ?? widest(all);
});

/** The endpoint over the tables that are in the folder (docs/endpoints.md). */
const FOLDER = 'tables';

/** What is opened first: the folder, where it has tables that no other endpoint reads, else where most can be queried. */
function widest(all: readonly EndpointDescription[]): EndpointDescription | null {
  const tables = ({ sandbox, tables }: EndpointDescription): number => (sandbox ? tables.length : 0);
  const folder = all.find(({ name }) => name === FOLDER);
  const others = all.filter(({ name }) => name !== FOLDER);
  const read = new Set(others.flatMap((one) => one.tables));
  // A stored query calls what it reads otherwise: edge_logs is raw_edge_logs.
  if (folder?.tables.some((name) => !read.has(name) && !read.has(name.replace(/^raw_/, ''))) === true) return folder;
  return [...others, ...(folder === undefined ? [] : [folder])].reduce<EndpointDescription | null>(
    (best, one) => (best === null || tables(one) > tables(best) ? one : best),
    null,
  );
}

/** The two parameters that the range fills. null: the endpoint has no such pair */
export const rangeParameters = computed<readonly [start: string, end: string] | null>(() => {
  const times = (endpoint.value?.params ?? []).filter(({ type, fixed }) => type === 'timestamp' && fixed !== true);
  const start = times.find(({ name }) => /(?:^|_)(?:start|from|since|after)$/i.test(name));
  const end = times.find(({ name }) => /(?:^|_)(?:end|to|until|before)$/i.test(name));
  return start === undefined || end === undefined ? null : [start.name, end.name];
});

/** Parameters that have a field of their own. */
export const ownParameters = computed<readonly ParameterDescription[]>(() =>
  (endpoint.value?.params ?? []).filter(({ name }) => rangeParameters.value?.includes(name) !== true),
);

export function change(part: Partial<Search>): void {
  search.value = { ...search.value, row: '', ...part };
}

/** What was written at each endpoint, and what was meant in the other language: it is there when one comes back. */
const left = new Map<string, Pick<Search, 'language' | 'query' | 'values' | 'columns' | 'table'>>();
const counterparts = new Map<string, Readonly<Record<Language, string>>>();

/** What was written with one key is not left for who comes with another. */
export function forgetDrafts(): void {
  left.clear();
  counterparts.clear();
}

export function chooseEndpoint(name: string): void {
  const { language, query, values, columns, table } = search.value;
  left.set(endpoint.value?.name ?? '', { language, query, values, columns, table });
  const before = left.get(name) ?? {
    language: 'lql',
    query: '',
    values: new Map<string, string>(),
    columns: [],
    table: '',
  };
  change({ endpoint: name, ...before });
}

/** @param translation of the line of LQL into SQL; null: it has none */
export function chooseLanguage(next: Language, translation: string | null): void {
  const { language, query: text } = search.value;
  if (language === next) return;
  const name = endpoint.value?.name ?? '';
  const known = { lql: '', sql: '', ...counterparts.get(name), [language]: text };
  // SQL that was written for this line is kept; that of another line is not what is meant.
  const isSame = counterparts.get(name)?.lql === text && known.sql !== '';
  if (next === 'sql' && !isSame) known.sql = translation ?? '';
  if (known.lql === '') known.lql = firstQuery();
  counterparts.set(name, known);
  change({ language: next, query: known[next] });
}

export function setValue(name: string, value: string): void {
  change({ values: new Map([...search.value.values, [name, value]]) });
}

/** What a parameter is sent with; what needs a value and has none gets the likeliest. */
export function valueOf(parameter: ParameterDescription): string {
  return search.value.values.get(parameter.name) ?? likeliest(parameter);
}

/** Whether a parameter takes any number of values: one in a line of its field. */
export function isList({ type }: Pick<ParameterDescription, 'type'>): boolean {
  return type.endsWith('[]');
}

export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}

function likeliest({ name, type, required, values, default: fallback }: ParameterDescription): string {
  if (!required || fallback !== undefined) return '';
  if (type.startsWith('enum')) return values?.[0] ?? '';
  // What Supabase Studio calls the only project of an installation of one's own.
  return name === 'project' ? 'default' : '';
}

/** The query that is written. */
export const query = computed(() => search.value.query);

const FROM = /(?<=^|\s)(?:f|from):(\S*)/;

/** The table that a line names, with its place. What is in double quotes is no clause. */
function fromIn(text: string): { readonly name: string; readonly start: number; readonly end: number } | null {
  const found = FROM.exec(text.replace(/"(?:\\.|[^"\\])*"?/g, (quoted) => '"'.repeat(quoted.length)));
  return found === null ? null : { name: found[1] ?? '', start: found.index, end: found.index + found[0].length };
}

/** The clause of a line that names its table; empty: there is none. */
export function fromClause(text: string): string {
  const from = fromIn(text);
  return from === null ? '' : `f:${from.name}`;
}

/** The table whose rows the endpoint gives by itself; empty: none, or not known. */
export const ownTable = signal('');

/** The table that a line of LQL is about: the one it names, the chosen one, the endpoint's own, the first. Empty: there is no choice. */
export const table = computed(() => {
  const tables = endpoint.value?.tables ?? [];
  const named = [fromIn(query.value)?.name ?? search.value.table, ownTable.value];
  return tables.length < 2 ? '' : (named.find((one) => tables.includes(one)) ?? tables[0] ?? '');
});

export function chooseTable(name: string): void {
  const { query: text, language } = search.value;
  const before = fromIn(text);
  const rest = before === null ? ` ${text}` : text.slice(before.end);
  const next =
    language === 'sql' ? `SELECT *\nFROM ${name}` : `${text.slice(0, before?.start ?? 0)}f:${name}${rest}`.trimEnd();
  change({ table: name, query: next, columns: [] });
}

/** The query as it is sent: a line of LQL with its table, a blank one as what the endpoint begins with. */
export const sentQuery = computed(() => {
  const text = query.value;
  if (search.value.language === 'sql') return text;
  if (text.trim() === '') return firstQuery();
  return table.value !== '' && fromIn(text) === null ? `f:${table.value} ${text}` : text;
});

/** A query as it is sent. */
export interface Written extends Pick<Search, 'language'> {
  readonly text: string;
}

/** The query as it is sent now. */
export function writtenNow(): Written {
  return { language: search.peek().language, text: sentQuery.peek() };
}

/** What an endpoint of logs begins with: one of its tables. Others have rows of their own without a query. */
export function firstQuery(): string {
  return table.value !== '' && rangeParameters.value !== null ? `f:${table.value}` : '';
}

/** Everything that a run sends. */
export function parametersOf({ start, end }: Bounds): Map<string, string | readonly string[]> {
  const sent = new Map<string, string | readonly string[]>();
  for (const parameter of ownParameters.value) {
    const value = parameter.fixed === true ? '' : valueOf(parameter);
    if (value !== '') sent.set(parameter.name, isList(parameter) ? linesOf(value) : value);
  }
  const [first, last] = rangeParameters.value ?? [];
  if (first !== undefined && last !== undefined) {
    sent.set(first, new Date(start).toISOString());
    sent.set(last, new Date(end).toISOString());
  }
  if (endpoint.value?.sandbox === true && sentQuery.value.trim() !== '') {
    sent.set(search.value.language, sentQuery.value);
  }
  return sent;
}

/** The search as the part of the address behind `#`: it is sent to no server. */
export function writeFragment({
  endpoint: name,
  values,
  range,
  language,
  query: text,
  zone,
  columns,
  table: chosen,
  row,
  chart,
}: Search): string {
  const parts = new URLSearchParams();
  if (name !== '') parts.set('endpoint', name);
  parts.set('range', writeRange(range));
  if (text !== '') parts.set(language, text);
  if (zone === 'local') parts.set('zone', zone);
  for (const [parameter, value] of values) parts.append('p', `${parameter}=${value}`);
  for (const column of columns) parts.append('column', column);
  if (chosen !== '' && fromIn(text) === null) parts.set('table', chosen);
  if (row !== '') parts.set('row', row);
  if (chart !== null) parts.set('chart', chart);
  return `#${parts.toString()}`;
}

/** Columns that an address may name. */
const MOST_COLUMNS = 20;

export function readFragment(fragment: string): Search {
  const parts = new URLSearchParams(fragment.replace(/^#/, ''));
  const language = parts.has('sql') ? 'sql' : 'lql';
  const values = parts.getAll('p').flatMap((one): [string, string][] => {
    const at = one.indexOf('=');
    return at > 0 ? [[one.slice(0, at), one.slice(at + 1)]] : [];
  });
  return {
    endpoint: parts.get('endpoint') ?? '',
    values: new Map(values),
    range: readRange(parts.get('range') ?? '') ?? FIRST.range,
    language,
    query: parts.get(language) ?? '',
    zone: parts.get('zone') === 'local' ? 'local' : 'utc',
    columns: parts.getAll('column').slice(0, MOST_COLUMNS),
    table: parts.get('table') ?? '',
    row: parts.get('row') ?? '',
    chart: CHART_FORMS.find((form) => form === parts.get('chart')) ?? null,
  };
}
