import { computed, signal } from '@preact/signals';

import { analysis } from './analysis';
import { CodeField } from './editor/code-field';
import { run } from './run';
import { change, chooseLanguage, chooseTable, endpoint, firstQuery, query, search, sentQuery, table } from './search';

/** Whether the SQL that a line of LQL means is shown beside it. */
const translated = signal(false);

const lqlAsSql = computed(() => (search.value.language === 'lql' ? (analysis.value?.lqlAsSql ?? null) : null));

/** The query, in LQL or SQL, over one of the endpoint's tables. */
export function QueryLine() {
  const { language } = search.value;
  return (
    <div class="query">
      <TableChoice />
      <div class="languages" role="group" aria-label="Language">
        <button type="button" aria-pressed={language === 'lql'} onClick={() => chooseLanguage('lql', null)}>
          LQL
        </button>
        <button type="button" aria-pressed={language === 'sql'} onClick={() => chooseLanguage('sql', translation())}>
          SQL
        </button>
      </div>
      <div class="editors">
        <CodeField
          label="Query"
          language={language}
          text={query}
          hint={language === 'sql' ? 'SELECT …' : 'A word, or field:value'}
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

function TableChoice() {
  const tables = endpoint.value?.tables ?? [];
  if (table.value === '') return null;
  return (
    <select
      aria-label="Table"
      title="The table that is searched"
      value={sentQuery.value.trim() === '' ? '' : table.value}
      onChange={({ currentTarget: { value } }) => {
        if (value === '') change({ query: '' });
        else chooseTable(value);
        void run();
      }}
    >
      {firstQuery() === '' ? <option value="">(its own rows)</option> : null}
      {tables.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** The SQL of what is written in LQL; null: it is not known. */
function translation(): string | null {
  const known = analysis.value;
  return known?.text !== query.value || known.lqlAsSql === null ? null : broken(known.lqlAsSql);
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
