/** LQL texts over the log tables: terms, comparisons and patterns on fields, time windows, charts. */
import type { RestField } from '../../../packages/googlesql/src/rest-schema';
import type { Random } from '../../sandbox/fuzz/random';
import { rawTable } from '../data/raw-tables';
import { SECRETS } from '../data/value-kinds';

const TABLES = [
  'edge_logs',
  'postgres_logs',
  'function_edge_logs',
  'function_logs',
  'auth_logs',
  'realtime_logs',
  'storage_logs',
  'postgrest_logs',
  'pgbouncer_logs',
];

export function generateLql(random: Random): string {
  const table = random.pick(TABLES);
  const fields = leaves(rawTable(`raw_${table}`).fields, '');
  const clauses = [`f:${table}`];
  for (let n = 1 + random.below(3); n > 0; n--) clauses.push(clause(fields, random));
  if (random.chance(25)) clauses.push('c:count(*)', `c:group_by(t::${random.pick(['minute', 'hour'])})`);
  return clauses.join(' ');
}

function clause(fields: readonly Field[], random: Random): string {
  const minus = random.chance(25) ? '-' : '';
  const [path, { type }] = random.pick(fields);
  switch (random.below(5)) {
    case 0:
      return `${minus}${random.pick(['boom', 'ok', 'request', 'Alpha', '2026'])}`;
    case 1:
      return `${minus}~"${random.pick(['^[a-m]', '\\d+$', `^${random.pick(SECRETS)}`])}"`;
    case 2:
      return `t:${random.pick(['last@2hours', '>2026-09-30T11:00:00', '<0002-01-01', '>9000-01-01'])}`;
    case 3:
      return random.pick([`${minus}id:~"^x"`, `s:${path}`, `${minus}event_message:NULL`]);
    default:
      if (type === 'INT64') return `${minus}${path}:${random.pick(['>100', '<0', '0', '1..50', 'NULL'])}`;
      if (type === 'STRING')
        return `${minus}${path}:${random.pick(['boom', 'NULL', '~"^[A-Z]"', `"${random.pick(SECRETS)}"`])}`;
      if (type === 'BOOL') return `${minus}${path}:true`;
      return `${minus}${path}:NULL`;
  }
}

type Field = readonly [path: string, field: RestField];

function leaves(fields: readonly RestField[], prefix: string): Field[] {
  return fields.flatMap((field) => {
    if (field.name === 'project') return [];
    if (field.type === 'RECORD') return leaves(field.fields, `${prefix}${field.name}.`);
    return field.mode === 'REPEATED' || prefix === '' ? [] : [[`${prefix}${field.name}`, field] as const];
  });
}
