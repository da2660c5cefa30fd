export { lqlExample, sqlExample } from './consumer-examples';
export {
  type ColumnsOf,
  type DescribedEndpoint,
  type DescribedParameter,
  describeEndpoints,
  type Readers,
} from './described';
export { openApiDocument } from './document';
export { fieldName } from './row-schema';
export { FAILURES } from './failures';
export { describeParameter, exampleOf, isRequired } from './parameter-schema';
export { RESPONSE_HEADERS } from './response-headers';
export { REQUEST_PARAMETERS, RESERVED_MEANINGS, runPath } from './run-paths';
export type { DocsAccess } from './service-paths';
