import { inspect } from 'node:util';
import { ServiceError } from '../../packages/duckdb-engine/src/contract/service-error';
import { QueryError } from '../../packages/googlesql/src/errors';
import { ApiFailure, isFailedJob, isOutage, isTransient } from '../../src/engines/bigquery/api-failure';
import { isOperatorsMatter, offsetAt, translateFailure } from '../../src/engines/bigquery/query-faults';

const TEXT = { sql: 'select a,\n b from t', offset: 0 };

describe('which failures are tried again', () => {
  // HTTP status and reason: whether it is tried again, the service counts as down, and a job is known to have failed.
  test.each([
    'null connectionFailed: again, down',
    'null noAnswer: again, down',
    '200 brokenAnswer: again, down',
    '200 malformedAnswer: final',
    '400 invalidQuery: final',
    '200 backendError: again, down, job failed',
    '200 invalidQuery: final',
    '400 jobInternalError: again, job failed',
    '400 jobBackendError: again, job failed',
    '400 jobRateLimitExceeded: again, job failed',
    '400 backendError: again, job failed',
    '400 tableUnavailable: again, job failed',
    '400 unknown: final',
    '400 timeout: final',
    '400 resourcesExceeded: final',
    '401 unknown: down',
    '401 noCredentials: down',
    '403 accessDenied: final',
    '403 quotaExceeded: final',
    '403 usageQuotaExceeded: final',
    '429 quotaExceeded: final',
    '403 responseTooLarge: final',
    '403 rateLimitExceeded: again',
    '403 jobRateLimitExceeded: again, job failed',
    '403 unknown: final',
    '404 notFound: final',
    '429 rateLimitExceeded: again',
    '429 unknown: again',
    '499 stopped: final',
    '500 bytesBilledLimitExceeded: final',
    '500 backendError: again, down',
    '500 internalError: again, down',
    '500 unknown: again, down',
    '500 somethingNew: final',
    '502 unknown: again, down',
    '503 backendError: again, down',
    '502 badGateway: again, down',
    '503 jobBackendError: again, down, job failed',
    '504 unknown: again, down',
  ])('%s', (line) => {
    const [, status = '', reason = '', said = ''] = /^(\w+) (\w+): (.*)$/.exec(line) ?? [];
    const failure = new ApiFailure(status === 'null' ? null : Number(status), reason);
    const told = { again: isTransient(failure), down: isOutage(failure), 'job failed': isFailedJob(failure) };
    const words = Object.entries(told).flatMap(([word, is]) => (is ? [word] : []));
    expect(words.join(', ') || 'final').toBe(said);
  });

  test.each([
    'Error encountered during execution. Retrying may solve the problem.',
    'The job encountered an internal error during execution and was unable to complete successfully.',
  ])('%s: a failed job, whatever the status', (words) => {
    expect(isFailedJob(new ApiFailure(500, 'backendError', words))).toBe(true);
    expect(isFailedJob(new ApiFailure(400, 'invalidQuery', words))).toBe(false);
  });
});

describe('what the caller learns', () => {
  test.each<[number | null, string, string, string]>([
    [
      500,
      'bytesBilledLimitExceeded',
      'Query exceeded limit for bytes billed: 1. 2 or higher required.',
      'bytesBilledLimitExceeded',
    ],
    [400, 'resourcesExceeded', 'Resources exceeded during query execution', 'resourcesExceeded'],
    [403, 'responseTooLarge', 'Response too large to return', 'resourcesExceeded'],
    [403, 'quotaExceeded', 'Quota exceeded', 'backendUnavailable'],
    [403, 'rateLimitExceeded', 'Exceeded rate limits', 'backendUnavailable'],
    [429, 'unknown', '', 'backendUnavailable'],
    [400, 'jobInternalError', 'The job encountered an internal error: secret_table', 'backendUnavailable'],
    [400, 'jobBackendError', '', 'backendUnavailable'],
    [400, 'jobRateLimitExceeded', '', 'backendUnavailable'],
    [503, 'backendError', 'Error encountered during execution. Retrying may solve the problem.', 'backendUnavailable'],
    [null, 'connectionFailed', 'TypeError ECONNRESET', 'backendUnavailable'],
    [401, 'noCredentials', '', 'backendError'],
    [403, 'accessDenied', 'Access Denied: Table p:d.secret_table', 'backendError'],
    [404, 'notFound', 'Not found: Job p:US.secret_table', 'backendError'],
    [200, 'brokenAnswer', '', 'backendError'],
    [200, 'malformedAnswer', '', 'backendError'],
    [499, 'stopped', 'Job timed out after 30 sec', 'deadlineExceeded'],
    [499, 'stopped', 'Job execution was cancelled: User requested cancellation', 'backendError'],
    [418, 'somethingNew', 'secret_table', 'backendError'],
    [418, 'constructor', 'secret_table', 'backendError'],
    [418, '__proto__', 'secret_table', 'backendError'],
  ])('%s %s (%s): %s', (status, reason, detail, expected) => {
    const error = translateFailure(new ApiFailure(status, reason, detail), TEXT) as ServiceError;
    expect(error).toBeInstanceOf(ServiceError);
    expect(error.reason).toBe(expected);
    expect(error.message).not.toMatch(/secret_table|cancellation|Retrying may/);
    expect(error.details.retryAfter !== undefined).toBe(expected === 'backendUnavailable');
  });

  test('the wait that BigQuery asks for is passed on', () => {
    const error = translateFailure(new ApiFailure(429, 'rateLimitExceeded', '', 17), TEXT) as ServiceError;
    expect(error.details.retryAfter).toBe(17);
  });

  test("BigQuery's own words are not printed with the failure, nor with the error that it causes", () => {
    const failure = new ApiFailure(403, 'accessDenied', 'row value');
    const translated = translateFailure(failure, TEXT);
    for (const error of [failure, translated]) {
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('row value');
      expect(JSON.stringify(error)).not.toContain('row value');
    }
    expect(failure.detail).toBe('row value');
    expect(isOperatorsMatter(failure)).toBe(true);
  });
});

describe('faults of a query', () => {
  const queryError = (message: string, reason = 'invalidQuery', status = 400): QueryError => {
    const error = translateFailure(new ApiFailure(status, reason, message), TEXT);
    expect(error).toBeInstanceOf(QueryError);
    return error as QueryError;
  };

  test.each([
    ['division by zero: 1 / 0', 'Division by zero'],
    ['Division by zero: SECRET / 0', 'Division by zero'],
    ['Array index 10 is out of bounds (overflow)', 'An array subscript is out of bounds'],
    ['int64 overflow: SECRET + 1', 'A number is out of range'],
    ['Bad int64 value: SECRET', 'A value cannot be cast to the requested type'],
    ['Bad double value: SECRET', 'A value cannot be cast to the requested type'],
    ['Bad bool value: SECRET', 'A value cannot be cast to the requested type'],
    ['Invalid NUMERIC value: SECRET', 'A value cannot be cast to the requested type'],
    ['Could not cast value SECRET to type INT64', 'A value cannot be cast to the requested type'],
    ["Invalid timestamp: 'SECRET'", 'A date or time is not valid'],
    ["Invalid date: 'SECRET'", 'A date or time is not valid'],
    ['Invalid time zone: SECRET', 'A time zone is not known'],
    ['Failed to parse input string "SECRET"', 'A text does not match the format it is parsed by'],
    [
      "Mismatch between format character '%' and string character 'S'",
      'A text does not match the format it is parsed by',
    ],
    ['Cannot parse regular expression: missing ): SECRET(', 'A regular expression is not valid'],
    [
      'Regular expressions passed into extraction functions must not have more than 1 capturing group',
      'A regular expression has more than one capturing group',
    ],
    ['Scalar subquery produced more than one element', 'A scalar subquery gives more than one row'],
    ['Array cannot have a null element; error in writing field SECRET', 'An array in the result holds a NULL element'],
    ['Invalid input to PARSE_JSON: syntax error while parsing SECRET', 'A text is not valid JSON'],
    ['Timestamp addition overflowed: SECRET', 'A date or time is not valid'],
    ['Argument to LN must be positive: SECRET', 'An argument of a function is out of range'],
    ['GENERATE_ARRAY(SECRET, 2, 1) produced too many elements', 'A text or an array that the query makes is too large'],
    ['Output of REPEAT exceeds max allowed output size of 1MB', 'A text or an array that the query makes is too large'],
    ['SECRET happened', 'The query failed on a value while it ran'],
  ])('%s', (message, words) => {
    const error = queryError(message);
    expect(error).toMatchObject({ fault: 'invalidQuery', message: words, span: null });
    expect(inspect(error)).not.toContain('SECRET');
    // Services that answer with 200.
    expect(queryError(message, 'invalidQuery', 200)).toMatchObject({ message: words });
  });

  test.each([
    ['Bad int64 value: division by zero', 'A value cannot be cast to the requested type'],
    ['Bad int64 value: neither grouped nor aggregated', 'A value cannot be cast to the requested type'],
    ['Bad int64 value: x at [1:1]', 'A value cannot be cast to the requested type'],
    ['Could not cast value time zone json to type INT64', 'A value cannot be cast to the requested type'],
    ["Invalid timestamp: 'null element'", 'A date or time is not valid'],
    ['Failed to parse input string "more than one row"', 'A text does not match the format it is parsed by'],
    ['Cannot parse regular expression: missing ): (out of bounds', 'A regular expression is not valid'],
    ['int64 overflow: 1 + 2 at [1:1]', 'A number is out of range'],
    ['MOD: division by zero: x at [1:1]', 'Division by zero'],
    ['Division by zero: "table not found" at [1:1]', 'Division by zero'],
    ['constructor', 'The query failed on a value while it ran'],
  ])('%s: values choose neither words nor a place', (message, words) => {
    expect(queryError(message)).toMatchObject({ fault: 'invalidQuery', message: words, span: null });
  });

  test.each(['Syntax error: Unrecognized name at [1:1]', 'Division by zero', 'Bad int64 value: x'])(
    '%s: nothing is read out of it where the text calls ERROR()',
    (message) => {
      const failure = new ApiFailure(400, 'invalidQuery', message);
      for (const sql of ['select error(a) from t', 'select ERROR\n (a)']) {
        expect(translateFailure(failure, { sql, offset: 0 })).toMatchObject({
          fault: 'invalidQuery',
          message: 'The query failed on a value while it ran',
          span: null,
        });
      }
    },
  );

  test('a place is given where no value stands before it', () => {
    expect(queryError('Argument must be a literal at [1:8]')).toMatchObject({ span: { start: 7, end: 8 } });
  });

  test.each<[string, string, number, string, string?, number?]>([
    ['Unrecognized name: b; Did you mean a? at [2:2]', 'unknownField', 11, 'b'],
    ['Name b not found inside t at [2:2]', 'unknownField', 11, 'b'],
    ['Field name b does not exist in STRUCT<a INT64> at [1:8]', 'unknownField', 7, 'a'],
    ['Syntax error: Unexpected end of script at [2:10]', 'invalidQuery', 19, ''],
    ['No matching signature for operator + at [1:9]', 'invalidQuery', 8, ','],
    ['Something new at [1:1]', 'invalidQuery', 0, 'select'],
    ['Not found: Table p:d.SECRET was not found in location US at [2:9]', 'invalidQuery', 18, 't', 'notFound', 404],
  ])('%s', (message, fault, start, near, reason = 'invalidQuery', status = 400) => {
    const error = queryError(message, reason, status);
    expect(error).toMatchObject({ fault, span: { start, end: start + near.length } });
    expect(TEXT.sql.startsWith(near, start)).toBe(true);
    expect(error.message).not.toMatch(/\bb\b|STRUCT|operator|SECRET/);
  });

  test('a place in front of the text that faults are reported against is dropped', () => {
    const failure = new ApiFailure(400, 'invalidQuery', 'Syntax error at [1:1]');
    expect(translateFailure(failure, { ...TEXT, offset: 10 })).toMatchObject({ span: null });
  });
});

test('what the local BigQuery cannot run is no fault of the query, nor of BigQuery', () => {
  const local = new ApiFailure(501, 'notImplemented', 'The local BigQuery cannot evaluate this: SECRET');
  const error = translateFailure(local, TEXT);
  expect(error).toMatchObject({
    fault: 'invalidQuery',
    message: expect.stringMatching(/^The local BigQuery cannot/) as string,
  });
  expect(error.message).not.toContain('SECRET');
  expect(translateFailure(new ApiFailure(501, 'notImplemented', 'x'), TEXT)).toMatchObject({ reason: 'backendError' });
});

describe('places', () => {
  test.each([
    ['abc', 1, 1, 0],
    ['abc', 1, 3, 2],
    ['a\nb', 2, 1, 2],
    ['a\r\nb', 2, 1, 3],
    ['a\rb\nc', 3, 1, 4],
    ['ü😀x', 1, 3, 3],
    ['\tx', 1, 9, 1],
    ['select\t\tfoo', 1, 17, 8],
    ['abc', 1, 99, 3],
    ['abc', 7, 1, 3],
  ])('%j line %d column %d', (text, line, column, offset) => {
    expect(offsetAt(text, line, column)).toBe(offset);
  });
});
