import { ERRORS, type Reason } from '../../../errors';
import type { DescribedEndpoint } from '../../../openapi/described';
import { FAILURES } from '../../../openapi/error-responses';
import { RESPONSE_HEADERS } from '../../../openapi/results';
import { REQUEST_PARAMETERS } from '../../../openapi/run-paths';
import type { DocsAccess } from '../../../openapi/service-paths';
import { endpointArticle } from './endpoint-article';
import { markup, type Markup, verbatim, words } from './html';
import { STYLE } from './style';

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
      'Errors',
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
