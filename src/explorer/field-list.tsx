import { Fragment } from 'preact';
import { computed, signal, useComputed, useSignal } from '@preact/signals';

import { clauseFor } from './clause';
import { writeExactly } from './exact-json';
import { type Field, fieldsOf, topValues, type TopValues } from './field-values';
import { canFilter, filterBy } from './filter';
import { isLog, result } from './run';
import { search, toggleColumn } from './search';
import { firstOf } from './visible-text';
import { countValues, type RangeCount } from './value-counts';

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
