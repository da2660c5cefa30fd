import { type JsonObject, member, recordIn } from './exact-json';

export type Severity = 'error' | 'warning' | 'info' | 'debug';

const WORDS: readonly (readonly [Severity, RegExp])[] = [
  ['error', /^(?:error|fatal|panic|crit(?:ical)?|alert|emerg(?:ency)?)$/i],
  ['warning', /^warn(?:ing)?$/i],
  ['debug', /^(?:debug\d?|trace)$/i],
  ['info', /^(?:info|log|notice|statement)$/i],
];

/** How grave a row is, by its level or by its response's status. null: it says nothing of that */
export function severityOf(row: JsonObject): Severity | null {
  const metadata = recordIn(member(row, 'metadata'));
  const parsed = recordIn(member(metadata, 'parsed'));
  const response = recordIn(member(metadata, 'response'));
  const levels = [
    member(row, 'level'),
    member(row, 'severity'),
    member(metadata, 'level'),
    member(parsed, 'error_severity'),
  ];
  for (const level of levels) {
    const found = typeof level === 'string' ? WORDS.find(([, pattern]) => pattern.test(level)) : undefined;
    if (found !== undefined) return found[0];
  }
  const statuses = [member(response, 'status_code'), member(row, 'status_code'), member(metadata, 'status')];
  const status = statuses.map(Number).find((one) => one >= 100 && one < 600);
  if (status === undefined) return null;
  return status >= 500 ? 'error' : status >= 400 ? 'warning' : 'info';
}
