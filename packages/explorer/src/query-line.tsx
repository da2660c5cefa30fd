import { computed, signal } from '@preact/signals';

import { analysis } from './analysis';
import { CodeField } from './editor/code-field';
import { run } from './run';
import { change, endpoint, query, search } from './search';

/** Whether the SQL that a line of LQL means is shown beside it. */
const translated = signal(false);

const lqlAsSql = computed(() => (search.value.language === 'lql' ? (analysis.value?.lqlAsSql ?? null) : null));

/** The query, in LQL or SQL. */
export function QueryLine() {
  const { language } = search.value;
  return (
    <div class="query">
      <div class="languages" role="group" aria-label="Language">
        <button type="button" aria-pressed={language === 'lql'} onClick={() => change({ language: 'lql', query: '' })}>
          LQL
        </button>
        <button type="button" aria-pressed={language === 'sql'} onClick={toSql}>
          SQL
        </button>
      </div>
      <div class="editors">
        <CodeField
          label="Query"
          language={language}
          text={query}
          hint={language === 'sql' ? 'SELECT …' : `f:${endpoint.value?.tables[0] ?? 'table'} timeout`}
          onChange={(text) => {
            if (text !== query.peek()) change({ query: text });
          }}
          onRun={() => void run()}
        />
        <Notes />
        {translated.value && lqlAsSql.value !== null ? (
          <pre class="translation" aria-label="The same in SQL" tabIndex={0}>
            {broken(lqlAsSql.value)}
          </pre>
        ) : null}
      </div>
      {language === 'lql' ? (
        <button
          type="button"
          aria-pressed={translated.value}
          title="Show what this line means in SQL"
          onClick={() => (translated.value = !translated.value)}
        >
          = SQL
        </button>
      ) : null}
    </div>
  );
}

/** What was written in LQL goes on as its SQL. */
function toSql(): void {
  if (search.value.language === 'sql') return;
  const known = analysis.value;
  const sql = known?.text === query.value ? known.lqlAsSql : null;
  change({ language: 'sql', query: sql === null ? '' : broken(sql) });
}

/** The SQL of a line of LQL with its clauses below each other. */
function broken(sql: string): string {
  return sql.replace(
    /'(?:\\.|[^'\\])*'|`[^`]*`| (?=(?:FROM|INNER JOIN|LEFT JOIN|WHERE|AND|GROUP BY|ORDER BY) )/g,
    (part) => (part === ' ' ? '\n' : part),
  );
}

/** What is allowed and probably not meant; and how many faults there are, for those who do not see them underlined. */
function Notes() {
  const known = analysis.value;
  if (known === null) return null;
  const { errors, warnings } = known;
  return (
    <>
      {warnings.map(({ message, hint }) => (
        <p key={message} class="note">
          {message} {hint}
        </p>
      ))}
      <p class="visually-hidden" role="status">
        {errors.length > 1 ? `${errors.length} faults. Ctrl+Shift+M lists them.` : errors[0]?.message}
      </p>
    </>
  );
}
