import type { Readers } from '../../src/openapi/described';
import type { Response } from '../../src/openapi/schema';
import { documentOf, forKey, names, operation, parameter } from './documents';
import { ALL, EVERYTHING, MASKED, ON_BIGQUERY, ON_DUCKDB } from './endpoints';

describe('tells no more than the reader may know', () => {
  it('lists what the key may run', () => {
    expect(names(documentOf(ALL, forKey({ endpoints: ['bare', MASKED.id.toUpperCase()] }), 'key'))).toEqual([
      'bare',
      'masked',
    ]);
    expect(names(documentOf(ALL, forKey({ pins: new Map([['project', 'x']]) }), 'key'))).toEqual([
      'logs.all',
      'usage.api-counts',
    ]);
  });

  it('describes a pinned parameter as fixed, without its value, choices, bounds or default', () => {
    const pins = new Map([
      ['choice', 'c&d'],
      ['n', '4'],
      ['text_default', 'pinned-value'],
    ]);
    const document = documentOf(ALL, forKey({ pins }), 'key');
    for (const name of pins.keys()) {
      const found = parameter(document, EVERYTHING.name, name);
      expect(found?.schema).toEqual({ type: 'string', maxLength: 4096 });
      expect(found?.required).toBeUndefined();
      expect(found?.description).toContain('This key fixes it');
    }
    const text = JSON.stringify(document);
    for (const secret of ['pinned-value', 'c&d', "a'b", "it's"]) expect(text).not.toContain(secret);
    const required = operation(document, EVERYTHING.name, 'post').requestBody?.content['application/json']?.schema
      .required;
    expect(required).toEqual(['text', 'day', 'ratio_required', 'deep', 'kinds', 'days']);
  });

  it('names bytes and their headers on BigQuery alone, and to no key with pins', () => {
    const headers = (readers: Readers): string[] =>
      Object.keys((operation(documentOf(ALL, readers), 'logs.all').responses['200'] as Response).headers ?? {});
    expect(headers(ON_BIGQUERY)).toContain('X-Query-Bytes-Billed');
    expect(headers(ON_DUCKDB)).not.toContain('X-Query-Bytes-Billed');
    expect(headers(forKey({ pins: new Map([['project', 'x']]) }))).not.toContain('X-Query-Bytes-Processed');
  });

  it('holds no SQL of a stored query', () => {
    const text = JSON.stringify(documentOf(ALL, ON_BIGQUERY));
    expect(text).not.toMatch(/raw_|hidden|UNNEST|\bWITH\b|@project|JSON_VALUE|WHERE/);
    for (const { sql } of ALL) {
      for (const line of sql.split('*/')[1]?.split('\n') ?? []) {
        if (line.trim().length > 15) expect(text).not.toContain(line.trim());
      }
    }
  });
});
