import { VERSION } from '../version';
import { type DescribedEndpoint, type Readers } from './described';
import { ERROR_SCHEMA, errorComponents, errorExamples } from './error-responses';
import { NOT_MODIFIED, RESPONSE_HEADERS, RESULT_SCHEMAS, SUCCESS_EXAMPLES } from './results';
import { REQUEST_PARAMETERS, runPaths } from './run-paths';
import type { Document } from './schema';
import { type DocsAccess, ENDPOINT_SCHEMA, servicePaths } from './service-paths';

const DESCRIPTION = `Saved analytical SQL over logs as read endpoints.

- Each stored endpoint has a path of its own. \`HEAD\` answers like \`GET\`, without a body; every other method is 405.
- Send the key in \`X-API-KEY\`, or as \`Authorization: Bearer\` where that header is absent. A key in the URL is not read.
- Absent, empty and JSON's null mean the same. Parameters that are not declared are ignored; one that is given twice is refused.
- \`Accept\` chooses the form of a result: JSON, NDJSON or CSV.
- Errors have one shape and their true status. Read \`errors[0].reason\`: the list of reasons is closed.`;

/** The OpenAPI document of what these readers may run. The same endpoints give the same bytes. */
export function openApiDocument(
  endpoints: readonly DescribedEndpoint[],
  readers: Readers,
  access: DocsAccess,
): Document {
  const { paths, schemas } = runPaths(endpoints, readers);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Logquay',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative to where the document was read: right behind every proxy, and nothing that a caller's Host header names.
    servers: [{ url: '/', description: 'Where this document was read.' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: [
      { name: 'Stored endpoints', description: 'Each runs one saved query.' },
      { name: 'Catalogue', description: 'What there is to run.' },
      { name: 'Documentation', description: 'Generated from the current catalogue.' },
      { name: 'Probes', description: 'For load balancers and orchestrators.' },
    ],
    paths: { ...paths, ...servicePaths(access, endpoints[0]?.name ?? null) },
    components: {
      schemas: { Error: ERROR_SCHEMA, Endpoint: ENDPOINT_SCHEMA, ...RESULT_SCHEMAS, ...schemas },
      parameters: REQUEST_PARAMETERS,
      headers: RESPONSE_HEADERS,
      responses: { NotModified: NOT_MODIFIED, ...errorComponents() },
      examples: { ...SUCCESS_EXAMPLES, ...errorExamples() },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
        bearer: { type: 'http', scheme: 'bearer', description: 'Read where X-API-KEY is absent.' },
      },
    },
  };
}
