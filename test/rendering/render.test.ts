import { brotliDecompressSync, gunzipSync } from 'node:zlib';

import { ServiceError } from '../../src/errors';
import { render } from '../../src/rendering/render';
import { chooseRepresentation, type Representation } from '../../src/rendering/representation';
import { cpuTime } from '../cpu-time';

const NO_LIMIT = 64 * 1024 * 1024;

function text(
  rows: readonly string[],
  representation: Representation,
  columns: readonly string[] = ['a', 'b'],
): string {
  return render({ columns, rows, truncated: false }, representation, NO_LIMIT).bytes.toString();
}

describe('JSON', () => {
  it('wraps the rows as the engine wrote them', () => {
    expect(text(['{"a":12345678901234567890}', '{"a":null}'], 'application/json')).toBe(
      '{"result":[{"a":12345678901234567890},{"a":null}]}',
    );
    expect(text([], 'application/json')).toBe('{"result":[]}');
  });
});

describe('NDJSON', () => {
  it('ends each row with a line feed', () => {
    expect(text(['{"a":1}', '{"a":2}'], 'application/x-ndjson')).toBe('{"a":1}\n{"a":2}\n');
    expect(text([], 'application/x-ndjson')).toBe('');
  });
});

describe('CSV', () => {
  const csv = (...rows: string[]) => text(rows, 'text/csv');

  it('has its header without rows too, and quotes names where it must', () => {
    expect(csv()).toBe('a,b\r\n');
    expect(text([], 'text/csv', ['a,b', 'c "d"'])).toBe('"a,b","c ""d"""\r\n');
  });

  it('writes null as nothing and an empty string in quotes', () => {
    expect(csv('{"a":null,"b":""}')).toBe('a,b\r\n,""\r\n');
  });

  it('keeps every digit', () => {
    expect(csv('{"a":9007199254740993,"b":-1.5e-9}')).toBe('a,b\r\n9007199254740993,-1.5e-9\r\n');
  });

  it('quotes what RFC 4180 wants quoted', () => {
    expect(csv('{"a":"x,y","b":"say \\"hi\\""}')).toBe('a,b\r\n"x,y","say ""hi"""\r\n');
    expect(csv('{"a":"one\\ntwo","b":"x\\r"}')).toBe('a,b\r\n"one\ntwo","x\r"\r\n');
  });

  const value = (text: string, escapeFormulas?: boolean): string => {
    const row = { columns: ['a'], rows: [JSON.stringify({ a: text })], truncated: false };
    return render(row, 'text/csv', NO_LIMIT, escapeFormulas).bytes.toString().slice(3, -2);
  };

  it.each([
    ['=1+1', "'=1+1"],
    ['=cmd|x', "'=cmd|x"],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ['+1+1', "'+1+1"],
    ['-1+1', "'-1+1"],
    ['-', "'-"],
    ['+', "'+"],
    ['-x', "'-x"],
    ['- 5', "'- 5"],
    ['-5 ', "'-5 "],
    ['-1,5', `"'-1,5"`],
    ['+-5', "'+-5"],
    ['-.', "'-."],
    ['-5e', "'-5e"],
    ['-0x10', "'-0x10"],
    ['@SUM(1)', "'@SUM(1)"],
    ['@', "'@"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['\n=1', `"'\n=1"`],
    ['\0=1', "'\0=1"],
    ['\0', "'\0"],
    ['＝1+1', "'＝1+1"],
    ['＋1', "'＋1"],
    ['－1', "'－1"],
    ['＠SUM(1)', "'＠SUM(1)"],
  ])('keeps a spreadsheet from computing %j', (text, cell) => {
    expect(value(text)).toBe(cell);
    expect(value(text, true)).toBe(cell);
    expect(value(text, false)).toBe(/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    // The names of columns are cells too, and a caller's own query may choose them.
    expect(render({ columns: [text], rows: [], truncated: false }, 'text/csv', NO_LIMIT).bytes.toString()).toBe(
      `${cell}\r\n`,
    );
  });

  it.each([
    '-5',
    '+5',
    '-1.50',
    '-.5',
    '+1.',
    '-1e10',
    '-1.5E-7',
    '-Infinity',
    '1+1',
    'a=1',
    ' =1',
    "'=1",
    'a@b',
    '{}',
  ])('leaves %j, which is a number or begins otherwise', (text) => {
    expect(value(text)).toBe(text);
  });

  it('leaves numbers that are no texts', () => {
    expect(csv('{"a":-5,"b":-1.5e-9}')).toBe('a,b\r\n-5,-1.5e-9\r\n');
  });

  it('leaves records and arrays JSON', () => {
    expect(csv('{"a":{"x":[1,"}"]},"b":[]}')).toBe('a,b\r\n"{""x"":[1,""}""]}",[]\r\n');
  });

  it('decodes escapes and keeps booleans', () => {
    expect(csv('{"a":"\\u00e9\\\\","b":true}')).toBe('a,b\r\né\\,true\r\n');
  });
});

describe('response bytes', () => {
  const rows = Array.from({ length: 50 }, (_, i) => `{"a":${String(i)},"b":"text that repeats"}`);
  const response = render({ columns: ['a', 'b'], rows, truncated: true }, 'application/json', NO_LIMIT);

  it('have a weak tag of their content', () => {
    expect(response.etag).toMatch(/^W\/"[\w-]{43}"$/);
    const same = render({ columns: ['a', 'b'], rows, truncated: false }, 'application/json', NO_LIMIT);
    const other = render({ columns: ['a', 'b'], rows: rows.slice(1), truncated: false }, 'application/json', NO_LIMIT);
    expect(same.etag).toBe(response.etag);
    expect(other.etag).not.toBe(response.etag);
  });

  it('are compressed once for each coding', async () => {
    expect(gunzipSync((await response.encoded('gzip')) ?? '')).toEqual(response.bytes);
    expect(brotliDecompressSync((await response.encoded('br')) ?? '')).toEqual(response.bytes);
    expect(response.encoded('gzip')).toBe(response.encoded('gzip'));
  });

  it('stay as they are where compressing does not pay', () => {
    expect(render({ columns: [], rows: [], truncated: false }, 'application/json', NO_LIMIT).encoded('br')).toBeNull();
  });
});

describe('the bound on an answer', () => {
  // Two bytes for each letter: the bound is on bytes.
  const rows = [`{"a":"${'é'.repeat(100)}"}`];
  const length = Buffer.byteLength(rows[0] ?? '');

  it.each([
    ['application/json', length + '{"result":[]}'.length],
    ['application/x-ndjson', length + 1],
    ['text/csv', 'a\r\n'.length + 200 + 2],
  ] as const)('holds to the byte for %s', (representation, bytes) => {
    const result = { columns: ['a'], rows, truncated: false };
    expect(render(result, representation, bytes).bytes).toHaveLength(bytes);
    expect(() => render(result, representation, bytes - 1)).toThrow(
      expect.objectContaining({ reason: 'resourcesExceeded' }) as Error,
    );
  });
});

describe('Accept', () => {
  it.each([
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/json', 'application/json'],
    ['APPLICATION/JSON', 'application/json'],
    ['application/json; charset=utf-8', 'application/json'],
    ['application/json;charset="utf-8";q=0.5, text/csv;q=0.4', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['text/csv', 'text/csv'],
    ['text/csv; header=present', 'text/csv'],
    ['text/*', 'text/csv'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/json;q=0.2, application/x-ndjson', 'application/x-ndjson'],
    ['text/csv;q=0, */*', 'application/json'],
    ['application/json;q=0, */*;q=0.1', 'application/x-ndjson'],
  ])('%s chooses %s', (accept, representation) => {
    expect(chooseRepresentation(accept)).toBe(representation);
  });

  it.each(['text/html', 'application/xml, image/*', 'application/json;q=0', '*/*;q=0', 'nonsense'])(
    '%s is not acceptable',
    (accept) => {
      expect(() => chooseRepresentation(accept)).toThrow(ServiceError);
    },
  );

  it('is read in linear time', () => {
    const read = (accept: string): void => {
      try {
        chooseRepresentation(accept);
      } catch {
        // Whether it is acceptable is not the question here.
      }
    };
    for (const hostile of [`a/b${';'.repeat(30_000)}`, `a/b; ${' '.repeat(30_000)}x`, `a/b;q${' '.repeat(30_000)}x`]) {
      expect(cpuTime(() => read(hostile))).toBeLessThan(500);
    }
  });
});
