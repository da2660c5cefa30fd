import type { Message } from './protocol';

/** Features that "maximum" switches on and BigQuery does not have. */
const NOT_IN_BIGQUERY = [
  'FEATURE_V_1_4_NULLIFZERO_ZEROIFNULL',
  'FEATURE_V_1_4_STRUCT_POSITIONAL_ACCESSOR',
  'FEATURE_V_1_4_FIRST_AND_LAST_N',
  'FEATURE_V_1_4_ARRAY_FIND_FUNCTIONS',
  'FEATURE_V_1_4_PI_FUNCTIONS',
];

/** Features that BigQuery documents and "maximum" leaves out, because it covers the numbered versions of the language alone. */
const IN_BIGQUERY = [
  'FEATURE_ANALYTIC_FUNCTIONS',
  'FEATURE_JSON_TYPE',
  'FEATURE_INTERVAL_TYPE',
  'FEATURE_NUMERIC_TYPE',
  'FEATURE_BIGNUMERIC_TYPE',
  'FEATURE_PARAMETERIZED_TYPES',
  'FEATURE_RANGE_TYPE',
  'FEATURE_TABLESAMPLE',
  'FEATURE_TABLE_VALUED_FUNCTIONS',
  'FEATURE_TEMPLATE_FUNCTIONS',
  'FEATURE_NAMED_ARGUMENTS',
  'FEATURE_FUNCTION_ARGUMENTS_WITH_DEFAULTS',
  'FEATURE_GROUP_BY_ROLLUP',
  'FEATURE_V_1_4_GROUPING_SETS',
  'FEATURE_V_1_4_GROUPING_BUILTIN',
  'FEATURE_JSON_ARRAY_FUNCTIONS',
  'FEATURE_JSON_VALUE_EXTRACTION_FUNCTIONS',
  'FEATURE_JSON_LAX_VALUE_EXTRACTION_FUNCTIONS',
  'FEATURE_JSON_CONSTRUCTOR_FUNCTIONS',
  'FEATURE_JSON_MUTATOR_FUNCTIONS',
  'FEATURE_ROUND_WITH_ROUNDING_MODE',
  'FEATURE_INVERSE_TRIG_FUNCTIONS',
  'FEATURE_CBRT_FUNCTIONS',
  'FEATURE_TIME_BUCKET_FUNCTIONS',
  'FEATURE_CREATE_TABLE_PARTITION_BY',
  'FEATURE_CREATE_TABLE_CLUSTER_BY',
  'FEATURE_CREATE_TABLE_NOT_NULL',
  'FEATURE_CREATE_TABLE_FIELD_ANNOTATIONS',
  'FEATURE_CREATE_TABLE_AS_SELECT_COLUMN_LIST',
  'FEATURE_CREATE_VIEW_WITH_COLUMN_LIST',
  'FEATURE_CREATE_VIEWS_WITH_COLUMN_OPTIONS',
  'FEATURE_DML_UPDATE_WITH_JOIN',
  'FEATURE_V_1_3_ANNOTATION_FRAMEWORK',
  'FEATURE_V_1_3_COLLATION_SUPPORT',
];

/** What is asked of the engine for its options with every feature of the current version. */
export const MAXIMUM: Message = { maximum_features: true, language_version: 'VERSION_CURRENT' };

/** BigQuery's dialect, made of the engine's maximum. No statement kind is left out: the caller says what it wants of each. */
export function bigQueryDialect(maximum: Message): Message {
  const features = new Set([...(maximum['enabled_language_features'] as string[]), ...IN_BIGQUERY]);
  for (const feature of NOT_IN_BIGQUERY) features.delete(feature);
  return {
    ...maximum,
    product_mode: 'PRODUCT_EXTERNAL',
    enabled_language_features: [...features],
    supported_statement_kinds: [],
  };
}
