/** The function table: names, second names, and signatures that all read. */
import { findFunction, functionNames } from '../../src/googlesql/functions/catalogue';
import { signatureOf } from '../../src/googlesql/functions/signature';

describe('the function table', () => {
  it('finds functions whatever their case, under both names', () => {
    expect(findFunction('substr')?.name).toBe('SUBSTR');
    expect(findFunction('Substring')?.name).toBe('SUBSTR');
    expect(findFunction('net.host')?.name).toBe('NET.HOST');
    expect(findFunction('nosuch')).toBeUndefined();
    expect(findFunction('toString')).toBeUndefined();
  });

  it('names no operator', () => {
    expect(functionNames().some((name) => name.includes('$'))).toBe(false);
    expect(findFunction('$add')?.category).toBe('operator');
  });

  it('has what BigQuery has and the engine lacks, and not the reverse', () => {
    for (const name of ['CONTAINS_SUBSTR', 'LAX_INT64', 'JSON_KEYS', 'MAX_BY', 'APPROX_TOP_SUM', 'SESSION_USER'])
      expect(findFunction(name)).toBeDefined();
    for (const name of ['ARRAY_SUM', 'D3A_COUNT.INIT', 'FLATTEN', 'IFERROR', 'ARRAY_ZIP'])
      expect(findFunction(name)).toBeUndefined();
  });

  it('marks what differs from call to call', () => {
    for (const name of ['RAND', 'GENERATE_UUID']) expect(findFunction(name)?.value).toBe('random');
    expect(findFunction('CURRENT_TIMESTAMP')?.value).toBe('clock');
    expect(findFunction('UPPER')?.value).toBe('fixed');
  });

  it.each(functionNames())('%s has signatures that read', (name) => {
    const signatures = findFunction(name)?.signatures ?? [];
    expect(signatures.length > 0).toBe(!['ARRAY_FILTER', 'ARRAY_TRANSFORM', 'EXTRACT'].includes(name));
    for (const text of signatures) expect(() => signatureOf(text)).not.toThrow();
  });
});
