export { mayRun } from './access';
export { openCatalogue, type Catalogue, type CatalogueOptions } from './catalogue';
export { check, type CheckOptions } from './check';
export { hasConsumerQuery, readConsumerRequest, type ConsumerRequest } from './consumer-request';
export { RESERVED } from './declaration';
export { describeLookback, describeParameters, typeName } from './described-parameters';
export { type Definition, readDefinition } from './definition';
export type { Endpoint, ParameterDeclaration, ParameterType } from './endpoint';
export { faultIn } from './definition';
export { CatalogueError, describeFault, type Fault } from './fault';
export { jsonSchemaOf } from './settings-json-schema';
export { readJson, readJsonBody } from './json-body';
export {
  boundTypes,
  type MovingStarts,
  readMovingStarts,
  readParameter,
  readParameters,
  withoutMovingStarts,
} from './parameters';
export { hourOf } from './values/lookback';
export { quoteValue } from './quote-value';
export type { RawEntry, RawValue } from './raw-entry';
export { readPosition } from './position';
export { readSwitch } from './switch';
export { type Paging, readPaging } from './paging';
export { readTimestampForm } from './timestamp-form';
export { type UnknownParameter, unknownParameters } from './unknown-parameters';
export { readUrlEncoded } from './url-encoded';
export { readInstantText } from './values/instant';
export { MOST_VALUES } from './values/list';
export { patternFault } from './values/pattern';
export { DECLARED_TYPES } from './settings';
export type { Resolution, ResolveStored } from './resolve';
export { readCatalogue } from './read-catalogue';
