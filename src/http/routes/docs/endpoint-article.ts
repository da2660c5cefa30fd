import { typeName } from '../../../endpoints';
import {
  type DescribedEndpoint,
  type DescribedParameter,
  describeParameter,
  exampleOf,
  isRequired,
  lqlExample,
  RESERVED_MEANINGS,
  runPath,
  sqlExample,
} from '../../../openapi';
import { markup, type Markup, words } from './html';

/** One endpoint on the page: what it answers, what it takes, how to ask it, and a form that asks it. */
export function endpointArticle(endpoint: DescribedEndpoint): Markup {
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
    <div>
      <pre tabindex="0" role="region" aria-label="curl line of ${name}"><code class="curl">${curl(endpoint)}</code></pre>
      <button type="button" class="copy" aria-label="Copy the curl line of ${name}">Copy</button>
    </div>
    ${tryForm(endpoint)}
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

/** Its fields have no native way out: the page's policy forbids forms to be sent, the script sends them. */
function tryForm(endpoint: DescribedEndpoint): Markup {
  const { name, parameters, reserved } = endpoint;
  const id = (part: string): string => `try:${name}:${part}`;
  return markup`<form data-path="${runPath(endpoint)}" autocomplete="off">
    <fieldset>
      <legend>Try ${name}</legend>
      ${parameters.filter(({ fixed }) => !fixed).map((one) => field(one, id(one.name)))}
      ${reserved.includes('sql') ? text('sql', sqlExample(endpoint), id('sql')) : null}
      ${reserved.includes('lql') ? text('lql', lqlExample(endpoint) ?? '', id('lql')) : null}
      ${
        reserved.includes('dry_run')
          ? markup`<label class="check"><input type="checkbox" data-parameter="dry_run" /> <code>dry_run</code></label>`
          : null
      }
      <label for="${id('-accept')}">Format</label>
      <select id="${id('-accept')}" data-header="Accept">
        <option value="application/json">JSON</option>
        <option value="application/x-ndjson">NDJSON</option>
        <option value="text/csv">CSV</option>
      </select>
      <label class="check"
        ><input type="checkbox" data-header="LF-ENDPOINT-REDACT-PII" /> Redact IP and e-mail addresses</label
      >
      <button type="submit" aria-label="Send the request to ${name}">Send</button>
    </fieldset>
    <div class="answer" role="status" aria-label="HttpResponse of ${name}"></div>
  </form>`;
}

function field(parameter: DescribedParameter, id: string): Markup {
  const { name, type, list, values } = parameter;
  const required = isRequired(parameter);
  const label = markup`<label for="${id}">${name}${required ? markup` <span class="quiet">(required)</span>` : null}</label>`;
  const choices = type === 'boolean' ? ['true', 'false'] : values;
  if (list) {
    const lines = required ? exampleOf(parameter) : '';
    return markup`${label}<textarea id="${id}" data-parameter="${name}" data-list placeholder="one value a line" spellcheck="false">${lines}</textarea>`;
  }
  if (choices !== null) {
    return markup`${label}<select id="${id}" data-parameter="${name}">
        ${required ? null : markup`<option value=""></option>`}
        ${choices.map((value) => markup`<option value="${value}">${value}</option>`)}
      </select>`;
  }
  const mode =
    type === 'integer' ? markup` inputmode="numeric"` : type === 'number' ? markup` inputmode="decimal"` : null;
  const value = required ? markup` value="${exampleOf(parameter)}"` : markup` placeholder="${exampleOf(parameter)}"`;
  return markup`${label}<input id="${id}" type="text" data-parameter="${name}" ${mode} ${value} spellcheck="false" />`;
}

function text(name: string, example: string, id: string): Markup {
  return markup`<label for="${id}">${name}</label>
    <textarea id="${id}" data-parameter="${name}" placeholder="${example}" spellcheck="false"></textarea>`;
}
