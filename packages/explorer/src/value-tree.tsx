import { useSignal } from '@preact/signals';

import { clauseFor } from './clause';
import { isObject, type Json, type JsonObject, pairsIn, recordIn, writeExactly } from './exact-json';
import { type Filter, FilterButtons } from './field-list';
import { timeAt } from './row-list';
import { Text } from './text';
import { visibleText } from './visible-text';

/** UTF-16 units of a text and members of a record that are shown before one asks for all. */
const LONGEST_TEXT = 4000;
const MOST_MEMBERS = 200;
/** Levels that are open at first. */
const OPEN_LEVELS = 3;

/** What can be done with a value. */
export interface ValueActions {
  /** null: values are not filtered by. */
  readonly filter: Filter | null;
  readonly copy: (text: string) => void;
}

interface TreeProps extends ValueActions {
  readonly value: JsonObject;
  readonly level?: number;
  /** Names from the row down to here; null: no clause reaches it. */
  readonly path?: readonly string[] | null;
}

/** A record as a tree; a list of one record is that record, which is how log tables nest them. */
export function ValueTree({ value, level = 0, path = [], ...actions }: TreeProps) {
  const all = useSignal(false);
  const entries = Object.entries(value);
  const shown = all.value ? entries : entries.slice(0, MOST_MEMBERS);
  return (
    <ul class="tree">
      {shown.map(([name, member]) => (
        <li key={name}>
          <Member name={name} value={member} level={level} path={path && [...path, name]} {...actions} />
        </li>
      ))}
      {shown.length < entries.length ? (
        <li>
          <button type="button" class="link" onClick={() => (all.value = true)}>
            Show {entries.length - shown.length} more
          </button>
        </li>
      ) : null}
    </ul>
  );
}

interface MemberProps extends ValueActions {
  readonly name: string;
  readonly value: Json;
  readonly level: number;
  readonly path: readonly string[] | null;
}

function Member({ name, value, level, path, ...actions }: MemberProps) {
  const open = useSignal(level < OPEN_LEVELS);
  const label = <bdi class="name">{visibleText(name.slice(0, 200))}</bdi>;
  const pairs = Array.isArray(value) ? pairsIn(value as readonly Json[]) : null;
  const named = recordIn(value);
  const record =
    pairs !== null ? Object.fromEntries(pairs.map((pair) => [pair.key, pair.value])) : (named ?? listAsRecord(value));
  if (record === null) {
    return (
      <>
        {label} <Scalar value={value} time={path === null ? null : timeAt(path, value)} />
        <ValueButtons name={name} path={path} value={value} {...actions} />
      </>
    );
  }
  return (
    <details
      open={open.value}
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary>{label}</summary>
      {/* Deep rows are drawn as far as they are opened. */}
      {open.value ? (
        // Which of several records is meant, no path says.
        <ValueTree value={record} level={level + 1} path={(named ?? pairs) ? path : null} {...actions} />
      ) : null}
    </details>
  );
}

function ValueButtons({ name, path, value, filter, copy }: Omit<MemberProps, 'level'>) {
  const clause = filter === null || path === null ? null : clauseFor(path, value);
  return (
    <span class="filters">
      {filter === null || clause === null ? null : <FilterButtons clause={clause} filter={filter} />}
      {value === null ? null : (
        <button
          type="button"
          title="Copy the value"
          aria-label={`Copy ${visibleText(name.slice(0, 200))}`}
          onClick={() => copy(typeof value === 'string' ? value : writeExactly(value))}
        >
          <svg width="10" height="10" aria-hidden="true">
            <path d="M.5 2.5h6v7h-6zM3 2.5v-2h6.5v7h-3" />
          </svg>
        </button>
      )}
    </span>
  );
}

/** @param time that the number means; null: none */
function Scalar({ value, time }: { readonly value: Json; readonly time: string | null }) {
  const all = useSignal(false);
  if (value === null) return <span class="value null">null</span>;
  if (time !== null) {
    return (
      <span class="value number" title={writeExactly(value)}>
        {time}
      </span>
    );
  }
  const text = typeof value === 'string' ? value : writeExactly(value);
  const cut = all.value || text.length <= LONGEST_TEXT ? text : text.slice(0, LONGEST_TEXT);
  return (
    <>
      <bdi class={`value ${Array.isArray(value) ? 'list' : typeof value}`}>
        <Text text={cut} />
      </bdi>
      {cut.length < text.length ? (
        <button type="button" class="link" onClick={() => (all.value = true)}>
          Show all {text.length.toLocaleString('en')} characters
        </button>
      ) : null}
    </>
  );
}

/** Several records by their numbers; a list of plain values is shown on one line. */
function listAsRecord(value: Json): JsonObject | null {
  if (!Array.isArray(value)) return null;
  const list = value as readonly Json[];
  if (!list.some((one) => isObject(one) || Array.isArray(one))) return null;
  return Object.fromEntries(list.map((one, i) => [String(i), one]));
}
