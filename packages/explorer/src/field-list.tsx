/** The fields of the rows as a tree, with the values they have most often: of what is loaded, or of the whole range. */
import { typeText } from '@logquay/googlesql/types';
import { type Signal, computed, signal, useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { clauseFor } from './clause';
import { writeExactly } from './exact-json';
import { priceText } from './estimate';
import { countRangeOf, type RangeCount } from './range-values';
import {
  type TopValues,
  type Field,
  fieldsOf,
  isNumeric,
  MOST_LOOKED_AT,
  presentIn,
  spreadOf,
  topValues,
  nameOf,
} from './field-values';
import { isLog, middleColumns, roles, toggleColumn } from './log';
import { result } from './result';
import { canFilter, filterBy } from './run';
import { countText, firstOf } from './visible-text';

export const fieldsShown = signal(matchMedia('(min-width: 70rem)').matches);

const MOST_VALUES = 10;

const fields = computed(() => fieldsOf(result.value?.types ?? [], result.value?.rows));
/** Paths that have a value in some loaded row. */
const present = computed(() => presentIn(result.value?.rows ?? [], fields.value));

export function FieldList() {
  if (!fieldsShown.value || result.value === null) return null;
  // What was looked for among the fields of other rows is not looked for among these.
  return <Fields key={fields.value.map(({ path }) => path).join()} />;
}

function Fields() {
  const wanted = useSignal('');
  const word = wanted.value.toLowerCase();
  const matches = fields.value.filter(({ path }) => path.toLowerCase().includes(word) || nameOf(path).includes(word));
  const [filled, empty] = [
    matches.filter(({ path }) => present.value.has(path)),
    matches.filter(({ path }) => !present.value.has(path)),
  ];
  return (
    <aside class="fields" aria-label="Fields">
      <input
        type="search"
        aria-label="Find a field"
        placeholder="Find a field"
        value={wanted.value}
        onInput={(event) => (wanted.value = event.currentTarget.value)}
      />
      <Tree fields={filled} depth={0} isOpen={word !== ''} />
      {matches.length === 0 ? <p>No field has such a name.</p> : null}
      {empty.length === 0 ? null : (
        <details class="absent">
          <summary>
            {countText(empty.length, 'field')} without a value
            {(result.value?.rows.length ?? 0) > MOST_LOOKED_AT
              ? ` in the first ${countText(MOST_LOOKED_AT, 'row')}`
              : ''}
          </summary>
          <Tree fields={empty} depth={0} isOpen={word !== ''} />
        </details>
      )}
    </aside>
  );
}

interface TreeProps {
  readonly fields: readonly Field[];
  /** Names that the branches above have said. */
  readonly depth: number;
  readonly isOpen: boolean;
}

/** Fields of a record below its name; the record that holds all the rest is open. */
function Tree({ fields: all, depth, isOpen }: TreeProps) {
  const branches = new Map<string, Field[]>();
  for (const field of all) {
    const name = field.names.slice(0, depth + 1).join('.');
    branches.set(name, [...(branches.get(name) ?? []), field]);
  }
  return (
    <ul>
      {[...branches].map(([path, own]) =>
        own.length === 1 && own[0]?.names.length === depth + 1 ? (
          <FieldEntry key={path} field={own[0]} />
        ) : (
          <li key={path}>
            <details class="branch" open={isOpen || depth === 0}>
              <summary>
                <Path text={firstOf(own[0]?.names[depth] ?? '', 80)} />
              </summary>
              <Tree fields={own} depth={depth + 1} isOpen={isOpen} />
            </details>
          </li>
        ),
      )}
    </ul>
  );
}

function FieldEntry({ field }: { readonly field: Field }) {
  const open = useSignal(false);
  const { path, names, type } = field;
  const name = nameOf(path);
  const isColumn = middleColumns.value.includes(path);
  const { time, message } = roles.value;
  const isFixed = !isLog.value || path === time?.path.join('.') || path === message?.path.join('.');
  return (
    <li class="field-entry">
      <details
        open={open.value}
        onToggle={(event) => {
          open.value = event.currentTarget.open;
        }}
      >
        <summary title={name}>
          <bdi>
            <Path text={firstOf(names.at(-1) ?? '', 80)} />
          </bdi>{' '}
          <span class="type">{typeText(type)}</span>
        </summary>
        {/* What was counted is of the run that was there. */}
        {open.value ? <Values key={result.value?.number} field={field} /> : null}
      </details>
      {isFixed ? null : (
        <button
          type="button"
          class="column"
          aria-pressed={isColumn}
          aria-label={`Column ${name}`}
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
  const rows = result.value?.rows ?? [];
  const known = range.value?.kind === 'counted' ? range.value.values : topValues(rows, field.names, MOST_VALUES);
  const spread = isNumeric(field.type) ? spreadOf(rows, field.names) : null;
  return (
    <div class="values">
      {spread === null ? null : (
        <dl class="spread">
          {Object.entries(spread).map(([label, value]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value.toLocaleString('en', { maximumSignificantDigits: 5 })}</dd>
            </div>
          ))}
        </dl>
      )}
      <Bars field={field} known={known} />
      <p class="quiet">
        {range.value?.kind === 'counted'
          ? `Of ${countText(known.total, 'row')} with a value, in the whole range.`
          : `In ${known.present.toLocaleString('en')} of ${countText(known.total, 'loaded row')}, ${known.distinct.toLocaleString('en')} different.`}
      </p>
      {canFilter.value ? <OverRange field={field} range={range} /> : null}
    </div>
  );
}

function OverRange({ field, range }: { readonly field: Field; readonly range: Signal<RangeCount | null> }) {
  const known = range.value;
  return (
    <>
      <button
        type="button"
        disabled={known?.kind === 'counting'}
        onClick={() => void countRangeOf(field.names, range, known?.kind === 'priced')}
      >
        {known?.kind === 'priced' ? `${priceText(known.estimate)}: count` : 'Over the whole range'}
      </button>
      {known?.kind === 'failed' ? (
        <p class="fault" role="status">
          {known.message}
        </p>
      ) : null}
    </>
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
            {clause === null ? null : <FilterButtons clause={clause} filter={filterBy} />}
          </li>
        );
      })}
    </ul>
  );
}

/** Adds a clause for a value to the query. @param exclude leaves its rows out */
export type Filter = (clause: string, exclude: boolean) => void;

export function FilterButtons({ clause, filter }: { readonly clause: string; readonly filter: Filter }) {
  return (
    <span class="filters">
      <button
        type="button"
        aria-label={`Filter by ${clause}`}
        title={`Add ${clause}`}
        onClick={() => filter(clause, false)}
      >
        +
      </button>
      <button
        type="button"
        aria-label={`Exclude ${clause}`}
        title={`Add -${clause}`}
        onClick={() => filter(clause, true)}
      >
        −
      </button>
    </span>
  );
}
