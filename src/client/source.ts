import { describeLookback } from '../endpoints';
import type { DescribedEndpoint, DescribedParameter } from '../openapi';
import { RUNTIME } from './runtime';
import { memberName, objectType, quoted } from './typescript-types';

const HEAD = `/**
 * A client of Logquay, written by \`logquay client\`: write it again when stored queries change. It needs \`fetch\` alone.
 *
 * INT64 is a number, which JavaScript rounds beyond 2^53; TIMESTAMP is microseconds since 1970.
 */
/* eslint-disable -- generated, for projects with rules of any kind */
`;

/** The TypeScript of a client of these endpoints. The same endpoints give the same text. */
export function clientSource(endpoints: readonly DescribedEndpoint[]): string {
  const members = endpoints.map(
    (endpoint) => `${comment(endpoint.description, '  ')}  readonly ${memberName(endpoint.name)}: {
    readonly parameters: ${parametersType(endpoint.parameters)};
    readonly row: ${endpoint.columns === null ? 'Row' : objectType(endpoint.columns, '    ')};
    readonly queryable: ${String(endpoint.tables.length > 0)};
  };
`,
  );
  return `${HEAD}
/** The stored endpoints. */
export interface Endpoints {
${members.join('')}}

${RUNTIME}`;
}

function parametersType(parameters: readonly DescribedParameter[]): string {
  if (parameters.length === 0) return '{ readonly [name: string]: never }';
  const members = parameters.map((parameter) => {
    const { name, required, defaultLookback } = parameter;
    const left = defaultLookback === null ? '' : describeLookback(defaultLookback);
    const description = `${parameter.description} ${left}`.trim();
    const type = parameter.list ? `ReadonlyArray<${parameterType(parameter)}>` : parameterType(parameter);
    const optional = required ? `${memberName(name)}: ${type}` : `${memberName(name)}?: ${type} | null | undefined`;
    return `${comment(description, '      ')}      readonly ${optional};\n`;
  });
  return `{\n${members.join('')}    }`;
}

function parameterType({ type, values }: DescribedParameter): string {
  switch (type) {
    case 'enum':
      return (values ?? []).map((value) => quoted(value)).join(' | ');
    case 'boolean':
      return 'boolean';
    case 'integer':
      return 'number | bigint';
    case 'number':
      return 'number';
    case 'timestamp':
      return 'string | Date';
    case 'string':
    case 'regex':
    case 'date':
      return 'string';
  }
}

function comment(text: string, indent: string): string {
  if (text === '') return '';
  return `${indent}/** ${text.replaceAll('*/', '*\\/').replace(/\s+/g, ' ').trim()} */\n`;
}
