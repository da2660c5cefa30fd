import {
  type DescribedEndpoint,
  type DescribedParameter,
  lqlExample,
  type Readers,
  type ReservedParameter,
  sqlExample,
} from './described';
import { errorResponses, REASONS } from './error-responses';
import { describeParameter, isRequired, jsonExampleOf, jsonSchema, TEXT_SCHEMA, urlSchema } from './parameter-schema';
import { resultResponse } from './results';
import { rowSchema } from './row-schema';
import type { Json, MediaType, Operation, Parameter, PathItem, Reference, Response, Schema } from './schema';

/** Where an endpoint is run. */
export function runPath({ name }: Pick<DescribedEndpoint, 'name'>): string {
  return `/api/endpoints/query/${name}`;
}

/** The paths of the stored endpoints, by their names, and the schemas of their rows. */
export function runPaths(
  endpoints: readonly DescribedEndpoint[],
  readers: Readers,
): { paths: Record<string, PathItem>; schemas: Record<string, Schema> } {
  const words = wordsOf(endpoints);
  const rowOf = ({ columns }: DescribedEndpoint, word: string): string => (columns === null ? 'Row' : `${word}Row`);
  const paths = endpoints.map((endpoint, i) => {
    const word = words[i] ?? '';
    const result = resultResponse(endpoint, rowOf(endpoint, word), readers);
    return [
      runPath(endpoint),
      { get: getOperation(endpoint, word, result), post: postOperation(endpoint, word, result) },
    ] as const;
  });
  const schemas = endpoints.flatMap((endpoint, i) =>
    endpoint.columns === null ? [] : [[rowOf(endpoint, words[i] ?? ''), rowSchema(endpoint.columns)] as const],
  );
  return { paths: Object.fromEntries(paths), schemas: Object.fromEntries(schemas) };
}

/** Words for the names of endpoints, each another: see `uniqueWord`. */
function wordsOf(endpoints: readonly Pick<DescribedEndpoint, 'name'>[]): string[] {
  const taken = new Set<string>();
  return endpoints.map(({ name }) => uniqueWord(name, taken));
}

/** `logs.all` as `LogsAll`: what generators of clients name methods by. Names that differ in signs alone get a number. */
function uniqueWord(name: string, taken: Set<string>): string {
  const parts = name.split(/[^A-Za-z0-9]+/).filter((part) => part !== '');
  const word = parts.map((part) => part.charAt(0).toUpperCase() + part.slice(1)).join('');
  let free = word;
  for (let i = 2; taken.has(free); i++) free = `${word}_${String(i)}`;
  taken.add(free);
  return free;
}

function getOperation(endpoint: DescribedEndpoint, word: string, result: Response): Operation {
  return {
    operationId: `run${word}`,
    summary: endpoint.name,
    description: describe(endpoint),
    tags: ['Stored endpoints'],
    parameters: [
      ...endpoint.parameters.map(urlParameter),
      ...endpoint.reserved.map((name) => reservedParameter(name, endpoint)),
      ...featureParameters(endpoint),
      ...REQUEST_HEADERS,
      { $ref: '#/components/parameters/If-None-Match' },
    ],
    responses: {
      '200': result,
      '304': { $ref: '#/components/responses/NotModified' },
      ...errorResponses(REASONS.filter((reason) => reason !== 'payloadTooLarge' && reason !== 'unsupportedMediaType')),
    },
  };
}

function postOperation(endpoint: DescribedEndpoint, word: string, result: Response): Operation {
  return {
    operationId: `send${word}`,
    summary: `${endpoint.name}, parameters in the body`,
    description: `${describe(endpoint)}\n\nFor what is too long for a URL. The URL may hold parameters too; one that is given in both is refused.`,
    tags: ['Stored endpoints'],
    parameters: [...REQUEST_HEADERS],
    requestBody: {
      required: endpoint.parameters.some(isRequired),
      content: {
        'application/json': body(endpoint, jsonSchema, jsonExampleOf),
        'application/x-www-form-urlencoded': body(endpoint, urlSchema, jsonExampleOf),
      },
    },
    responses: { '200': result, ...errorResponses(REASONS) },
  };
}

function describe({
  id,
  description,
  maxRows,
  exportRows,
  cacheTtl,
  tables,
  redacted,
  sqlByRight,
}: DescribedEndpoint): string {
  return [
    ...(description === '' ? [] : [description]),
    `At most ${String(maxRows)} rows. ${cacheTtl === 0 ? 'Not cached.' : `Cached for ${String(cacheTtl)} seconds.`}`,
    ...(exportRows === 0 ? [] : [`With \`export\` at most ${String(exportRows)}, for keys created with \`--export\`.`]),
    ...(redacted ? ['IP and e-mail addresses come as `REDACTED`.'] : []),
    ...(tables.length === 0
      ? []
      : [`Tables for a query of your own: ${tables.map((name) => `\`${name}\``).join(', ')}.`]),
    ...(sqlByRight ? ['`sql` and `lql` are for keys created with `--allow-sql`.'] : []),
    `By its id: \`/api/endpoints/query/${id}\`.`,
  ].join('\n\n');
}

function urlParameter(parameter: DescribedParameter): Parameter {
  const required = isRequired(parameter);
  return {
    name: parameter.name,
    in: 'query',
    description: describeParameter(parameter),
    ...(required ? { required } : { allowEmptyValue: true }),
    schema: urlSchema(parameter),
    ...(required ? { example: jsonExampleOf(parameter) } : {}),
  };
}

const REQUEST_HEADERS: readonly Reference[] = [
  { $ref: '#/components/parameters/LF-ENDPOINT-REDACT-PII' },
  { $ref: '#/components/parameters/X-Request-Id' },
];

/** What `sql`, `lql` and `dry_run` mean, in words. */
export const RESERVED_MEANINGS: Readonly<Record<ReservedParameter, string>> = {
  sql: "A GoogleSQL query of your own over the endpoint's tables. It replaces the stored query's last SELECT; without ORDER BY it promises no order.",
  lql: "A query of your own in LQL, over the endpoint's tables. Where `sql` is given too, that is used.",
  dry_run: '`true`: what the query would read and cost on BigQuery, without running it.',
};

function reservedParameter(name: ReservedParameter, endpoint: DescribedEndpoint): Parameter {
  const example = reservedExample(name, endpoint);
  return {
    name,
    in: 'query',
    description: RESERVED_MEANINGS[name],
    allowEmptyValue: true,
    schema: { ...reservedSchema(name), ...(example === null ? {} : { examples: [example] }) },
  };
}

/** What every endpoint takes that declares no parameter of the name. */
function featureParameters({ parameters, exportRows, maxRows, ordered }: DescribedEndpoint): Parameter[] {
  const features: Parameter[] = [
    {
      name: 'timestamps',
      in: 'query',
      description: '`iso`: TIMESTAMP as ISO 8601 text rather than as whole microseconds, in every form.',
      allowEmptyValue: true,
      schema: { type: 'string', enum: ['micros', 'iso'], default: 'micros' },
    },
    {
      name: 'export',
      in: 'query',
      description:
        '`true`: a result of any length as NDJSON, whose last line is the number of rows, as CSV or Parquet. Not cached.',
      allowEmptyValue: true,
      schema: { type: 'boolean', default: false },
    },
  ];
  const pages: Parameter[] = [
    {
      name: 'page_size',
      in: 'query',
      description:
        'A page of so many rows, as JSON; `next_page_token` is in the answer while there are more. Not with `sql` or `lql`.',
      allowEmptyValue: true,
      schema: { type: 'integer', minimum: 1, maximum: maxRows },
    },
    {
      name: 'page_token',
      in: 'query',
      description: '`next_page_token` of the answer before.',
      allowEmptyValue: true,
      schema: { type: 'string' },
    },
  ];
  const declared = parameters.map(({ name }) => name);
  if (ordered && !declared.includes('page_size') && !declared.includes('page_token')) features.push(...pages);
  return features.filter(({ name }) => !declared.includes(name) && (name !== 'export' || exportRows > 0));
}

function reservedSchema(name: ReservedParameter): Schema {
  return name === 'dry_run' ? { type: 'boolean', default: false } : TEXT_SCHEMA;
}

function reservedExample(name: ReservedParameter, endpoint: DescribedEndpoint): Json {
  return { sql: sqlExample(endpoint), lql: lqlExample(endpoint), dry_run: true }[name];
}

/** Undeclared members are ignored. */
function body(
  { parameters, reserved }: DescribedEndpoint,
  schemaOf: (parameter: DescribedParameter) => Schema,
  valueOf: (parameter: DescribedParameter) => Json,
): MediaType {
  const required = parameters.filter(isRequired);
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries([
        ...parameters.map((one) => [one.name, { ...schemaOf(one), description: describeParameter(one) }] as const),
        ...reserved.map((name) => [name, { ...reservedSchema(name), description: RESERVED_MEANINGS[name] }] as const),
      ]),
      ...(required.length === 0 ? {} : { required: required.map(({ name }) => name) }),
    },
    example: Object.fromEntries(required.map((one) => [one.name, valueOf(one)])),
  };
}

/** Request headers, for the components. */
export const REQUEST_PARAMETERS: Readonly<Record<string, Parameter>> = {
  'LF-ENDPOINT-REDACT-PII': {
    name: 'LF-ENDPOINT-REDACT-PII',
    in: 'header',
    description:
      '`true`, in any case: IP and e-mail addresses come as `REDACTED`. `false` cannot switch off what the key or the endpoint ' +
      'force. Another value is answered 400.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of an earlier answer: 304 if it is still that one.',
    schema: { type: 'string' },
  },
  'X-Request-Id': {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Returned, and logged.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:+/=@-]{1,128}$' },
  },
};
