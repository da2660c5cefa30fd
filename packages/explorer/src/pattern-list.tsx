import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { FilterButtons } from './field-list';
import { messageOf } from './log';
import { clauseOf, type Pattern, Patterns } from './patterns';
import { result } from './result';
import { canFilter, filterBy } from './run';
import { shownRows } from './row-list';
import { countText, firstOf } from './visible-text';

/** Whether the rows are shown as the patterns of their messages. */
export const patternsShown = signal(false);

const MOST_SHOWN = 200;
/** Rows that are read at once: nobody waits for the next frame. */
const STEP = 2000;

/** What the loaded messages have in common, with how many there are of each. */
export function PatternList() {
  const patterns = useSignal<readonly Pattern[] | null>(null);
  const rows = result.value?.rows;
  useEffect(() => {
    let isCurrent = true;
    const found = new Patterns();
    const all = shownRows.peek();
    const readOn = (from: number): void => {
      if (!isCurrent) return;
      for (const row of all.slice(from, from + STEP)) found.add(messageOf(row));
      if (from + STEP < all.length) setTimeout(readOn, 0, from + STEP);
      else patterns.value = found.all;
    };
    readOn(0);
    return () => {
      isCurrent = false;
    };
  }, [rows]);
  const known = patterns.value;
  const highest = known?.[0]?.count ?? 1;
  return (
    <section class="patterns" aria-label="Patterns" tabIndex={0}>
      <p class="quiet">
        {known === null
          ? 'Reading…'
          : `${countText(known.length, 'pattern')} in ${countText(rows?.length ?? 0, 'loaded row')}`}
      </p>
      <ol>
        {known?.slice(0, MOST_SHOWN).map((pattern, i) => {
          const clause = canFilter.value ? clauseOf(pattern) : null;
          return (
            <li key={i}>
              <span class="count">{pattern.count.toLocaleString('en')}</span>
              <meter min={0} max={highest} value={pattern.count} aria-hidden="true" />
              <details>
                <summary>
                  {pattern.template.map((word, at) => (
                    <span key={at} class={word === null ? 'differs' : ''}>
                      {word === null ? '*' : firstOf(word, 80)}{' '}
                    </span>
                  ))}
                </summary>
                <p class="message">{firstOf(pattern.sample, 2000)}</p>
              </details>
              {clause === null ? null : <FilterButtons clause={clause} filter={filterBy} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
