import { signal } from '@preact/signals';

import { analysis } from './analysis';
import { serviceNow } from './api';
import { counts } from './histogram/counts';
import { framed } from './embed';
import { Popup } from './popup';
import { RowFile } from './row-file';
import { shownColumns } from './log';
import { allRows } from './more-rows';
import { result, shownSearch } from './result';
import { endpoint, parametersOf, query, search, writeFragment } from './search';
import { curlOf, endpointFileOf, fetchOf, postmanOf, type Request } from './snippets';
import { boundsOf } from './time-range';
import { countText } from './visible-text';

/** What came of the last copy, and of the last download. */
const [news, saved] = [signal(''), signal('')];
const everyField = signal(false);

/** What is looked at as a link or as a request of another program, and its rows as a file. */
export function Share() {
  return (
    <>
      <Popup label="Share" onOpen={() => (news.value = '')}>
        {() => (
          <>
            <ul class="choices">
              {COPIES.map(([label, text]) => (
                <li key={label}>
                  <button type="button" onClick={() => void copy(text)}>
                    {label}
                  </button>
                </li>
              ))}
            </ul>
            <p class="quiet">The key is in none of these.</p>
            <p role="status">{news.value}</p>
          </>
        )}
      </Popup>
      <Popup label="Download" onOpen={() => (saved.value = '')}>
        {() => (
          <>
            <ul class="choices">
              {FORMS.map(([label, type, suffix]) => (
                <li key={label}>
                  <button type="button" disabled={result.value === null} onClick={() => void download(type, suffix)}>
                    {label}
                  </button>
                </li>
              ))}
            </ul>
            <label class="check">
              <input
                type="checkbox"
                checked={everyField.value}
                onChange={(event) => (everyField.value = event.currentTarget.checked)}
              />{' '}
              All fields, not just the columns that are shown
            </label>
            <p role="status">{saved.value}</p>
          </>
        )}
      </Popup>
    </>
  );
}

const FORMS = [
  ['CSV', 'text/csv', 'csv'],
  ['NDJSON', 'application/x-ndjson', 'ndjson'],
  ['JSON', 'application/json', 'json'],
] as const;

type Copy = readonly [label: string, text: () => string | null];

const LINKS: readonly Copy[] = [
  ['Copy link', () => location.href],
  ['Copy link to these times', frozenLink],
];

const COPIES: readonly Copy[] = [
  ...(framed ? [] : LINKS),
  ['Copy as curl', () => ofRequest(curlOf)],
  ['Copy as fetch', () => ofRequest(fetchOf)],
  ['Copy for Postman', () => ofRequest(postmanOf)],
  ['Copy as endpoint file', () => ofRequest((request) => endpointFileOf(request, sqlOf(), crypto.randomUUID()))],
];

/** The link with the range as it is now: a relative one goes on with the clock. */
function frozenLink(): string {
  const { start, end } = result.value?.bounds ?? boundsOf(search.value.range, serviceNow());
  const fragment = writeFragment({ ...shownSearch(), range: { kind: 'between', start, end } });
  return location.href.replace(/#.*$/, '') + fragment;
}

function ofRequest(write: (request: Request) => string): string | null {
  if (endpoint.value === null) return null;
  const parameters = result.value?.parameters ?? parametersOf(boundsOf(search.value.range, serviceNow()));
  return write({ base: new URL('.', location.href).href, endpoint: endpoint.value, parameters });
}

function sqlOf(): string {
  const sql = search.value.language === 'sql' ? query.value : (analysis.value?.lqlAsSql ?? '');
  return sql === '' ? 'SELECT 1 AS one' : sql;
}

async function copy(write: () => string | null): Promise<void> {
  const text = write();
  news.value = text === null ? 'There is nothing to copy.' : await copied(text);
}

/** Copies a text. @returns what came of it, for people */
export async function copied(text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied';
  } catch {
    return 'The browser does not let this page copy.';
  }
}

/** Writes the rows into a file: the columns that are shown, or every field; times as ISO 8601. */
async function download(type: string, suffix: string): Promise<void> {
  const [known, target] = [result.value, endpoint.value];
  if (known === null || target === null) return;
  saved.value = 'Loading…';
  const file = new RowFile(suffix, known.types, everyField.value ? null : shownColumns.value);
  try {
    const { count, isWhole } = await allRows((rows) => {
      file.add(rows);
      saved.value = `${countText(file.count, 'row')}…`;
    });
    const link = document.createElement('a');
    link.href = URL.createObjectURL(file.finish(type));
    link.download = `${target.name}.${suffix}`;
    link.click();
    URL.revokeObjectURL(link.href);
    const all = counts.value?.complete === true && counts.value.bounds === known.bounds ? counts.value.total : null;
    saved.value = isWhole
      ? `Downloaded ${countText(count, 'row')}.`
      : `Downloaded ${count.toLocaleString('en')} of ${all === null ? 'more' : countText(all, 'row')}: this key has no export here. “Load older” loads more.`;
  } catch (error) {
    saved.value = error instanceof Error ? error.message : String(error);
  }
}
