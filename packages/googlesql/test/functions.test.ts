/** The function table: names, second names, and signatures that all read. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFunction, functionNames } from '../src/functions/catalogue';
import { allowedFunctionNames } from '../src/consumer/functions';
import { signatureOf } from '../src/functions/signature';

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

  it('opens to consumers what computes from its arguments alone', () => {
    const closed = functionNames().filter((name) => findFunction(name)?.isOpen === false);
    expect(closed).toEqual(['COSINE_DISTANCE', 'ERROR', 'EUCLIDEAN_DISTANCE', 'SESSION_USER']);
    expect(allowedFunctionNames()).toEqual(functionNames().filter((name) => !closed.includes(name)));
  });

  it('has each name once', () => {
    const text = readFileSync(join(__dirname, '../src/functions/function-table.ts'), 'utf8');
    const names = [...text.matchAll(/^ {4}'?([$A-Z][\w.]*)'?: /gim)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(300);
    expect(names.length).toBe(new Set(names).size);
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
