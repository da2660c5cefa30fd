/** Values of a field over the whole range, counted by the engine. */
import { type Signal, computed, signal, useComputed, useSignal } from '@preact/signals';
import { read } from './analyser/analyser';
import { consumerText } from './analysis';
import { ask } from './api';
import { type Estimate, estimateOf, priceText } from './estimate';
import { type TopValues, type Field, fieldsOf, topValues } from './field-values';
import { canFilter, filterBy, result, rowsOf, isLog } from './run';
import { endpoint, query, search, toggleColumn } from './search';
import { key } from './session';
import { fieldExpression } from './severity';
import { Fragment } from 'preact';
import { clauseFor } from './clause';
import { writeExactly } from './exact-json';
import { firstOf } from './visible-text';

export type RangeCount =
  | { readonly kind: 'counting' }
  /** On BigQuery the price comes first. */
  | { readonly kind: 'priced'; readonly text: string }
  | { readonly kind: 'counted'; readonly values: TopValues }
  | { readonly kind: 'failed'; readonly message: string };

const MOST_COUNTED = 20;

/** Counts the values of a field; where that has a price, it is shown first. @param agreed the price was seen */
export async function countValues(
  names: readonly string[],
  into: Signal<RangeCount | null>,
  agreed: boolean,
): Promise<void> {
  const [done, target, presented, given] = [result.peek(), endpoint.peek(), key.peek(), consumerText(query.peek())];
  if (done === null || target === null || presented === null || given === null) return;
  into.value = { kind: 'counting' };
  try {
    const source = await read('rows', given);
    const field = source === null ? null : fieldExpression(source.columns, 'q', names);
    if (source === null || field === null) {
      into.value = { kind: 'failed', message: 'The values of this field cannot be counted over the range.' };
      return;
    }
    const value = field.type.kind === 'ARRAY' ? `TO_JSON_STRING(${field.sql})` : field.sql;
    const sql = `SELECT ${value} AS value, COUNT(*) AS n FROM (${source.sql}\n) AS q WHERE ${field.sql} IS NOT NULL GROUP BY 1 ORDER BY n DESC LIMIT ${MOST_COUNTED}`;
    const sent = new Map<string, string | readonly string[]>([...done.parameters, ['sql', sql]]);
    sent.delete('lql');
    const estimate: Estimate | null = agreed ? null : await estimateOf(sent);
    if (estimate !== null) {
      into.value = { kind: 'priced', text: priceText(estimate) };
      return;
    }
    const path = `api/endpoints/query/${encodeURIComponent(target.name)}`;
    const { text } = await ask(path, sent, presented, new AbortController().signal);
    const values = rowsOf(text).map(({ value: one = null, n }) => ({ value: one, count: Number(n) }));
    const total = values.reduce((sum, { count }) => sum + count, 0);
    into.value = { kind: 'counted', values: { values, present: total, distinct: values.length, total } };
  } catch (error) {
    into.value = { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

export const fieldsShown = signal(matchMedia('(min-width: 70rem)').matches);

const MOST_VALUES = 10;

const fields = computed(() => fieldsOf(result.value?.types ?? null, result.value?.rows ?? []));

/** The fields of the rows, with their types and the values they have most often. */
export function FieldList() {
  const wanted = useSignal('');
  if (!fieldsShown.value || result.value === null) return null;
  const word = wanted.value.toLowerCase();
  const shown = fields.value.filter(({ path }) => path.toLowerCase().includes(word));
  return (
    <aside class="fields" aria-label="Fields">
      <input
        type="search"
        aria-label="Find a field"
        placeholder="Find a field"
        value={wanted.value}
        onInput={(event) => (wanted.value = event.currentTarget.value)}
      />
      <ul>
        {shown.map((field) => (
          <FieldEntry key={field.path} field={field} />
        ))}
      </ul>
      {shown.length === 0 ? <p>No field has such a name.</p> : null}
    </aside>
  );
}

function FieldEntry({ field }: { readonly field: Field }) {
  const open = useSignal(false);
  const { path, type } = field;
  const isColumn = search.value.columns.includes(path);
  const fixed = !isLog.value || path === 'timestamp' || path === 'event_message';
  return (
    <li>
      <details
        open={open.value}
        onToggle={(event) => {
          open.value = event.currentTarget.open;
        }}
      >
        <summary>
          <bdi>
            <Path text={firstOf(path.replace(/^metadata\./, 'm.'), 80)} />
          </bdi>{' '}
          <span class="type">{type}</span>
        </summary>
        {open.value ? <Values field={field} /> : null}
      </details>
      {fixed ? null : (
        <button
          type="button"
          class="column"
          aria-pressed={isColumn}
          aria-label={`Column ${path}`}
          title={isColumn ? 'Take the column away' : 'Show as a column'}
          onClick={() => toggleColumn(path)}
        >
          ▥
        </button>
      )}
    </li>
  );
}

/** Breaks between its words. */
function Path({ text }: { readonly text: string }) {
  return text.split(/(?<=[._])/).map((word, i) => (
    <Fragment key={i}>
      {word}
      <wbr />
    </Fragment>
  ));
}

function Values({ field }: { readonly field: Field }) {
  const range = useSignal<RangeCount | null>(null);
  const loaded = useComputed(() => topValues(result.value?.rows ?? [], field.names, MOST_VALUES));
  const known = range.value?.kind === 'counted' ? range.value.values : loaded.value;
  return (
    <div class="values">
      <Bars field={field} known={known} />
      <p class="quiet">
        {range.value?.kind === 'counted'
          ? `Of ${known.total.toLocaleString('en')} rows with a value, in the whole range.`
          : `In ${known.present.toLocaleString('en')} of ${known.total.toLocaleString('en')} loaded rows, ${known.distinct.toLocaleString('en')} different.`}
      </p>
      {isLog.value && canFilter.value ? (
        <>
          <button
            type="button"
            disabled={range.value?.kind === 'counting'}
            onClick={() => void countValues(field.names, range, range.value?.kind === 'priced')}
          >
            {range.value?.kind === 'priced' ? `${range.value.text}: count` : 'Over the whole range'}
          </button>
          {range.value?.kind === 'failed' ? (
            <p class="fault" role="status">
              {range.value.message}
            </p>
          ) : null}
        </>
      ) : null}
    </div>
  );
}

function Bars({ field, known }: { readonly field: Field; readonly known: TopValues }) {
  const highest = Math.max(1, ...known.values.map(({ count }) => count));
  return (
    <ul class="bars-of-values">
      {known.values.map(({ value, count }) => {
        const clause = canFilter.value ? clauseFor(field.names, value) : null;
        const text = typeof value === 'string' ? value : writeExactly(value);
        return (
          <li key={text}>
            <meter min={0} max={highest} value={count} aria-hidden="true" />
            <bdi title={firstOf(text, 1000)}>{text === '' ? '(empty)' : firstOf(text, 60)}</bdi>
            <span class="count">{count.toLocaleString('en')}</span>
            {clause === null ? null : (
              <span class="filters">
                <button
                  type="button"
                  aria-label={`Filter by ${clause}`}
                  title={`Add ${clause}`}
                  onClick={() => filterBy(clause, false)}
                >
                  +
                </button>
                <button
                  type="button"
                  aria-label={`Exclude ${clause}`}
                  title={`Add -${clause}`}
                  onClick={() => filterBy(clause, true)}
                >
                  −
                </button>
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
