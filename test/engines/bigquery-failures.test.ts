import { inspect } from 'node:util';
import { QueryError, ServiceError } from '../../src/errors';
import { ApiFailure, isFailedJob, isOutage, isTransient } from '../../src/engines/bigquery/api-failure';
import { isOperatorsMatter, offsetAt, translateFailure } from '../../src/engines/bigquery/query-faults';

const TEXT = { sql: 'select a,\n b from t', offset: 0 };

describe('which failures are tried again', () => {
  test.each<[number | null, string, boolean, boolean, boolean?]>([
    // HTTP status, reason, whether again, whether the service counts as down, whether a job is known to have failed
    [null, 'connectionFailed', true, true],
    [null, 'noAnswer', true, true],
    [200, 'brokenAnswer', true, true],
    [200, 'malformedAnswer', false, false],
    [400, 'invalidQuery', false, false],
    [200, 'backendError', true, true, true],
    [200, 'invalidQuery', false, false],
    [400, 'jobInternalError', true, false, true],
    [400, 'jobBackendError', true, false, true],
    [400, 'jobRateLimitExceeded', true, false, true],
    [400, 'backendError', true, false, true],
    [400, 'tableUnavailable', true, false, true],
    [400, 'unknown', false, false],
    [400, 'timeout', false, false],
    [400, 'resourcesExceeded', false, false],
    [401, 'unknown', false, true],
    [401, 'noCredentials', false, true],
    [403, 'accessDenied', false, false],
    [403, 'quotaExceeded', false, false],
    [403, 'usageQuotaExceeded', false, false],
    [429, 'quotaExceeded', false, false],
    [403, 'responseTooLarge', false, false],
    [403, 'rateLimitExceeded', true, false],
    [403, 'jobRateLimitExceeded', true, false, true],
    [403, 'unknown', false, false],
    [404, 'notFound', false, false],
    [429, 'rateLimitExceeded', true, false],
    [429, 'unknown', true, false],
    [499, 'stopped', false, false],
    [500, 'bytesBilledLimitExceeded', false, false],
    [500, 'backendError', true, true],
    [500, 'internalError', true, true],
    [500, 'unknown', true, true],
    [500, 'somethingNew', false, false],
    [502, 'unknown', true, true],
    [503, 'backendError', true, true],
    [502, 'badGateway', true, true],
    [503, 'jobBackendError', true, true, true],
    [504, 'unknown', true, true],
  ])('%s %s: %s, outage %s', (status, reason, transient, outage, failedJob = false) => {
    const failure = new ApiFailure(status, reason);
    expect(isTransient(failure)).toBe(transient);
    expect(isOutage(failure)).toBe(outage);
    expect(isFailedJob(failure)).toBe(failedJob);
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
