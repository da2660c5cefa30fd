import { typeName } from '../../../endpoints/parameters';
import type { DescribedEndpoint, DescribedParameter } from '../../../openapi/described';
import { describeParameter, exampleOf, isRequired } from '../../../openapi/parameter-schema';
import { RESERVED_MEANINGS, runPath } from '../../../openapi/run-paths';
import { markup, type Markup, words } from './html';

/** One endpoint on the page: what it answers, what it takes, and how to ask it. @param explorer whether there is the explorer */
export function endpointArticle(endpoint: DescribedEndpoint, explorer: boolean): Markup {
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
