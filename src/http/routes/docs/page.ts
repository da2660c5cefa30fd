import { createHash } from 'node:crypto';

import { typeName } from '../../../endpoints/parameters';
import { ERRORS, type Reason } from '../../../errors';
import type { DescribedEndpoint, DescribedParameter } from '../../../openapi/described';
import { FAILURES } from '../../../openapi/error-responses';
import { describeParameter, exampleOf, isRequired } from '../../../openapi/parameter-schema';
import { RESPONSE_HEADERS } from '../../../openapi/results';
import { REQUEST_PARAMETERS, RESERVED_MEANINGS, runPath } from '../../../openapi/run-paths';
import type { DocsAccess } from '../../../openapi/service-paths';

/** A text that is HTML already, and so is not escaped again. */
class Markup {
  constructor(readonly text: string) {}
}

type Piece = Markup | string | number | null | readonly Markup[];

/** HTML of a template: everything put into it is escaped, for elements and quoted attributes alike, but markup itself. */
export function markup(strings: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(strings.reduce((text, string, i) => text + render(pieces[i - 1] ?? null) + string));
}

/** A script or style of our own, whose bytes the page's policy names by their hash: it must not be changed. */
export function verbatim(text: string): Markup {
  if (/<\/(?:script|style)|<!--/i.test(text)) throw new Error('This text would end the element that holds it.');
  return new Markup(text);
}

function render(piece: Piece): string {
  if (piece === null) return '';
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === 'object') return piece.map(({ text }) => text).join('');
  return String(piece).replace(/[&<>"'`]/g, (sign) => `&#${String(sign.charCodeAt(0))};`);
}

/** Words with code between back ticks, as descriptions hold them. */
export function words(text: string): Markup[] {
  return text.split(/`([^`]+)`/).map((part, i) => (i % 2 === 0 ? markup`${part}` : markup`<code>${part}</code>`));
}

/** One endpoint on the page: what it answers, what it takes, and how to ask it. @param explorer whether there is the explorer */
function endpointArticle(endpoint: DescribedEndpoint, explorer: boolean): Markup {
  const { name, description, parameters, reserved } = endpoint;
  // A sign that no name holds: ids of two endpoints never meet.
  const id = `endpoint:${name}`;
  return markup`<article id="${id}" aria-labelledby="${id}:name">
    <h2 id="${id}:name">${name}</h2>
    ${description === '' ? null : markup`<p>${description}</p>`}
    <p><code>GET ${runPath(endpoint)}</code> <span class="quiet">or POST</span></p>
    ${facts(endpoint)}
    ${parameters.length + reserved.length === 0 ? null : parameterTable(endpoint)}
    <h3>With curl</h3>
    <pre tabindex="0" role="region" aria-label="curl line of ${name}"><code>${curl(endpoint)}</code></pre>
    ${explorer ? markup`<p><a href="/explore#endpoint=${encodeURIComponent(name)}">Try ${name} in the explorer</a></p>` : null}
  </article>`;
}

function facts({ id, maxRows, cacheTtl, tables, redacted, sqlByRight }: DescribedEndpoint): Markup {
  return markup`<dl>
    <dt>Id</dt>
    <dd><code>${id}</code></dd>
    <dt>Rows</dt>
    <dd>at most ${maxRows}</dd>
    <dt>Cache</dt>
    <dd>${cacheTtl === 0 ? 'none' : `for ${String(cacheTtl)} seconds`}</dd>
    ${
      redacted
        ? markup`<dt>Redaction</dt>
          <dd>IP and e-mail addresses come as <code>REDACTED</code></dd>`
        : null
    }
    ${
      tables.length === 0
        ? null
        : markup`<dt>Tables</dt>
          <dd>
            ${tables.map((table) => markup`<code>${table}</code> `)}
            ${sqlByRight ? ' (consumer queries: for keys created with --allow-sql)' : null}
          </dd>`
    }
  </dl>`;
}

function parameterTable(endpoint: DescribedEndpoint): Markup {
  const { name, parameters, reserved } = endpoint;
  return markup`<h3>Parameters</h3>
    <div class="scroll" tabindex="0" role="region" aria-label="Parameters of ${name}">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Type</th>
            <th scope="col">Meaning</th>
          </tr>
        </thead>
        <tbody>
          ${parameters.map(
            (one) =>
              markup`<tr>
                <th scope="row"><code>${one.name}</code></th>
                <td>${kind(one)}</td>
                <td>${words(describeParameter(one))}</td>
              </tr>`,
          )}
          ${reserved.map(
            (one) =>
              markup`<tr>
                <th scope="row"><code>${one}</code></th>
                <td>${one === 'dry_run' ? 'boolean' : 'text'}</td>
                <td>${words(RESERVED_MEANINGS[one])}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}

/** Type, allowed values and whether it must be there, in words. */
function kind(parameter: DescribedParameter): string {
  if (parameter.fixed) return 'fixed by this key';
  const { values, minimum, maximum } = parameter;
  const bounds = [
    ...(minimum === null ? [] : [`from ${String(minimum)}`]),
    ...(maximum === null ? [] : [`to ${String(maximum)}`]),
  ];
  return [
    [typeName(parameter), ...bounds].join(' '),
    ...(values === null ? [] : [values.join(', ')]),
    isRequired(parameter) ? 'required' : 'optional',
  ].join('; ');
}

function curl(endpoint: DescribedEndpoint): string {
  const given = endpoint.parameters.filter(isRequired);
  return [
    `curl --get -H "X-API-KEY: $KEY" "$URL${runPath(endpoint)}"`,
    ...given.map((one) => `--data-urlencode '${`${one.name}=${exampleOf(one)}`.replaceAll("'", "'\\''")}'`),
  ].join(' \\\n  ');
}

/** The page's look. Colours have a contrast of 4.5 and more on their grounds, in both schemes (test/browser/explorer.test.ts). */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f2f4f7; --text: #1a1f26; --quiet: #515b66; --line: #8b95a1;
  --link: #0a4fa8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #10151b; --raised: #1b232c; --text: #e8edf2; --quiet: #a9b4bf; --line: #6d7985;
    --link: #86bdff;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
body > header, #content, body > footer { max-width: 76rem; margin: 0 auto; padding: 1rem; }
h1 { margin: 0; font-size: 1.7rem; } h2 { margin: 0 0 .5rem; font-size: 1.3rem; } h3 { margin: 1.25rem 0 .4rem; font-size: 1.05rem; }
p { margin: .4rem 0; } a { color: var(--link); } ul { padding-left: 1.2rem; }
code, pre { font: .9em/1.5 ui-monospace, SFMono-Regular, Consolas, monospace; }
pre { margin: 0; padding: .75rem; overflow: auto; max-height: 28rem; background: var(--raised); border-radius: .4rem; }
section, article { margin: 0 0 1.5rem; padding: 1rem 0 0; border-top: 1px solid var(--line); }
.skip { position: absolute; left: -99rem; } .skip:focus { left: .5rem; top: .5rem; background: var(--ground); padding: .5rem; z-index: 1; }
.quiet, dt { color: var(--quiet); }
.scroll { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; width: 100%; font-size: .95rem; }
caption { text-align: left; color: var(--quiet); padding: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); }
td { min-width: 6rem; max-width: 34rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .5rem 0; } dd { margin: 0; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
@media (min-width: 60rem) {
  #content { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2rem; align-items: start; }
  #content > nav { position: sticky; top: 1rem; max-height: 95vh; overflow-y: auto; }
}
`;

/**
 * The documentation as one HTML page, for the same readers as the OpenAPI document.
 *
 * @param endpoints null: for somebody without a key where one is needed; the page then holds nothing of the catalogue
 * @param explorer whether there is the explorer, to which the page then leads
 */
export function docsPage(
  endpoints: readonly DescribedEndpoint[] | null,
  access: DocsAccess,
  explorer: boolean,
): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Logquay: endpoints</title>
<link rel="icon" href="data:,">
<style>${verbatim(STYLE)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the endpoints</a>
<header>
<h1>Logquay</h1>
<p>Saved analytical SQL over logs as read endpoints. ${forPrograms(access)}${
    explorer ? markup` &middot; To look at logs: <a href="/explore">the explorer</a>` : null
  }</p>
</header>
<div id="content">
${endpoints === null ? null : navigation(endpoints)}
<main id="main" tabindex="-1">
${endpoints === null ? keyNeeded(explorer) : null}
${endpoints?.length === 0 ? markup`<p>There is no endpoint to run.</p>` : null}
${(endpoints ?? []).map((endpoint) => endpointArticle(endpoint, explorer))}
${errorSection()}
${headerSection()}
</main>
</div>
<footer><p class="quiet">Generated from the current catalogue.</p></footer>
</body>
</html>
`.text;
}

/** A link is of no use where the answer needs a key, which a link cannot send. */
function forPrograms(access: DocsAccess): Markup {
  if (access === 'key') return markup`For programs: <code>GET /openapi.json</code>, with the key.`;
  return markup`For programs: <a href="/openapi.json">openapi.json</a>`;
}

/** A browser that opens a page cannot send a key. */
function keyNeeded(explorer: boolean): Markup {
  return markup`<p>The endpoints are shown to the holder of a key: <code>curl -H "X-API-KEY: $KEY" -H 'Accept: text/html' "$URL/docs"</code>${
    explorer ? markup`, or <a href="/explore">the explorer</a>, which asks for the key` : null
  }.</p>`;
}

function navigation(endpoints: readonly DescribedEndpoint[]): Markup {
  return markup`<nav aria-label="Endpoints">
    <ul>
      ${endpoints.map(({ name }) => markup`<li><a href="#endpoint:${name}">${name}</a></li>`)}
      <li><a href="#errors">Errors</a></li>
      <li><a href="#headers">Headers</a></li>
    </ul>
  </nav>`;
}

function errorSection(): Markup {
  const reasons = Object.keys(ERRORS) as Reason[];
  return markup`<section id="errors" aria-labelledby="errors-name">
    <h2 id="errors-name">Errors</h2>
    <p>Always JSON, with the true status: <code>{"error":{"code","status","message","errors":[{"reason", &hellip;}],"requestId"}}</code>.</p>
    ${table(
      'Reasons of errors',
      ['Reason', 'Status', 'When', 'Retryable'],
      reasons.map((reason) => [
        markup`<code>${reason}</code>`,
        markup`${ERRORS[reason].http}`,
        markup`${words(FAILURES[reason].when)}`,
        markup`${ERRORS[reason].retryable ? 'yes' : 'no'}`,
      ]),
    )}
  </section>`;
}

function headerSection(): Markup {
  const row = (name: string, description: string): Markup[] => [
    markup`<code>${name}</code>`,
    markup`${words(description)}`,
  ];
  return markup`<section id="headers" aria-labelledby="headers-name">
    <h2 id="headers-name">Headers</h2>
    <h3>Of requests</h3>
    ${table(
      'Request headers',
      ['Header', 'Meaning'],
      [
        row('X-API-KEY', 'The key; or `Authorization: Bearer`, which is read where this header is absent.'),
        row(
          'Accept',
          '`application/json`, `application/x-ndjson` or `text/csv`; for exports also `application/vnd.apache.parquet`.',
        ),
        ...Object.values(REQUEST_PARAMETERS).map(({ name, description }) => row(name, description)),
      ],
    )}
    <h3>Of answers</h3>
    ${table(
      'Response headers',
      ['Header', 'Meaning'],
      Object.entries(RESPONSE_HEADERS).map(([name, { description }]) => row(name, description)),
    )}
  </section>`;
}

function table(name: string, columns: readonly string[], rows: readonly (readonly Markup[])[]): Markup {
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${name}">
    <table>
      <thead>
        <tr>${columns.map((column) => markup`<th scope="col">${column}</th>`)}</tr>
      </thead>
      <tbody>
        ${rows.map(([first, ...rest]) => markup`<tr><th scope="row">${first ?? null}</th>${rest.map((cell) => markup`<td>${cell}</td>`)}</tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** What the page may do: look as its one style says, which is named by its hash. It has no script. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  'img-src data:', // the empty icon that keeps browsers from asking for one
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');
