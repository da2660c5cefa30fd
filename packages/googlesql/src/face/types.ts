/** Types, schemas, values in text form, and faults: what needs neither a parser nor a resolver. */
export { type BoundParameter, elementOf, type TypedParameter, typesByName } from '../bound-parameter';
export { quotedName } from '../escapes';
export { type FaultNote, lineAndColumn, offsetOf, QueryError, type QueryFault } from '../errors';
export { fieldsOf, type FieldPath, followPath, pairOf, pathText, segmentsOf } from '../field-path';
export { keySpellings, textInJson } from '../lql/fields';
export { HIDDEN_SIGNS } from '../hidden-signs';
export { latin1Pattern } from '../latin1-pattern';
export { dateText, datetimeText, timeText } from '../literals/civil';
export { MOST_OF_INTERVAL } from '../literals/interval';
export { JsonPathFault, type JsonPathForm, jsonPathSteps } from '../literals/json-path';
export { decimalText } from '../literals/number';
export { FIRST_INSTANT, LAST_INSTANT, temporalValue, timestampMicros } from '../literals/temporal';
export { timeZone } from '../literals/time-zone';
export { MOST_PATTERN_COST, patternCost } from '../pattern-cost';
export { columnsOf, parseRestSchema, type RestField, RestSchemaError, typeOf } from '../rest-schema';
export {
  isTimeName,
  type DescribedRoles,
  describeRoles,
  type Level,
  levelCondition,
  levelOf,
  LEVELS,
  ROLE_NAMES,
  type RoleField,
  type Roles,
  roleSettings,
  type RoleSettings,
  rolesOf,
  type SeverityRole,
  type SeverityScale,
  timeExpression,
  type TimeRole,
  unfitRoles,
} from '../roles';
export { DELIMITERS, ENCODED_DELIMITERS, parseSearchQuery, SearchQueryFault, type SearchTerm } from '../search-query';
export { inSteps, step } from '../steps';
export { isInCalendar, secondsOf } from '../time/calendar';
export { instantText, readInstant } from '../time/instant';
export { scalarNamed, typeParametersOf, typeText } from '../type-names';
export {
  type NamedType,
  PER_SECOND,
  type RangeElement,
  type ScalarName,
  type SqlType,
  type StructField,
  TABLE_SUFFIX,
  type TableSchema,
  TIME_UNITS,
  type TimeUnit,
  type TimeUnits,
  type TypeParameters,
} from '../types';
