import fc from 'fast-check';

import { redactRows, redactText } from '../../src/redaction/redaction';
import { cpuTime } from '../cpu-time';
import { runs } from '../scale';

const redactRow = (row: string) => redactRows([row])[0];

describe('rows', () => {
  it('are masked in keys and values at any depth', () => {
    const row = { a: '1.2.3.4', b: [{ 'ana@example.com': ['x', { c: '::1' }] }], d: null, e: 1.5, f: true, g: 'kept' };
    expect(redactRow(JSON.stringify(row))).toBe(
      '{"a":"REDACTED","b":[{"REDACTED":["x",{"c":"REDACTED"}]}],"d":null,"e":1.5,"f":true,"g":"kept"}',
    );
  });

  it('are masked in JSON inside of strings, and in JSON inside of that', () => {
    const inner = JSON.stringify({ ip: '2001:db8::2', note: 'x\n10.0.0.1' });
    const row = JSON.stringify({ message: JSON.stringify({ inner }) });
    const masked = JSON.parse(redactRow(row) ?? '') as { message: string };
    const { inner: maskedInner } = JSON.parse(masked.message) as { inner: string };
    expect(JSON.parse(maskedInner)).toEqual({ ip: 'REDACTED', note: 'x\nREDACTED' });
  });

  it('are masked where an address is hidden by escapes of JSON', () => {
    expect(redactRow('{"a":"ana\\u0040example.com","b":"1\\u002e2.3.4","c":"\\u003a:1"}')).toBe(
      '{"a":"REDACTED","b":"REDACTED","c":"REDACTED"}',
    );
  });

  it('keep the digits of numbers and every byte of strings without an address', () => {
    const row = '{"n":9007199254740993,"m":1.2e-7,"t":1790766000000000,"s":"\\u00e9\\/\\ud800","x":"1.2.3.4"}';
    expect(redactRow(row)).toBe(
      '{"n":9007199254740993,"m":1.2e-7,"t":1790766000000000,"s":"\\u00e9\\/\\ud800","x":"REDACTED"}',
    );
  });

  it('keep what else stands in a string that is masked', () => {
    expect(JSON.parse(redactRow('{"x":"\\"\\\\ \\u00e9 \\ud83d\\ude00 \\t 1.2.3.4 \\\\\\""}') ?? '')).toEqual({
      x: '"\\ é 😀 \t REDACTED \\"',
    });
  });

  it('are masked string by string: nothing is found across two of them', () => {
    const row = '{"a":"1.2","b":"3.4","a@b":"example.com","1":"::","t":"11:00:00"}';
    expect(redactRow(row)).toBe(row.replace('"::"', '"REDACTED"'));
  });

  it('agree with redacting each string, whatever the JSON', () => {
    const piece = fc.constantFrom('1.2.3.4', '::1', 'ana@example.com', 'x', '\\', '"', '\n', 'é', '\\u0040', ' ');
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.constant(null), tie('list'), tie('record')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      record: fc.array(fc.tuple(text, tie('value')), { maxLength: 3 }).map((members) => new Map(members)),
    }));
    const render = (node: unknown, shown: (text: string) => string): string => {
      if (typeof node === 'string') return JSON.stringify(shown(node));
      if (Array.isArray(node)) return `[${node.map((child) => render(child, shown)).join(',')}]`;
      if (!(node instanceof Map)) return JSON.stringify(node);
      const members = [...(node as Map<string, unknown>)].map(
        ([name, child]) => `${JSON.stringify(shown(name))}:${render(child, shown)}`,
      );
      return `{${members.join(',')}}`;
    };
    fc.assert(
      fc.property(value, (node) => {
        const row = `{"row":${render(node, (string) => string)}}`;
        expect(redactRow(row)).toBe(`{"row":${render(node, redactText)}}`);
      }),
      { ...runs(2000) },
    );
  });

  it('of great length take time in proportion', () => {
    const row = JSON.stringify({ a: '\\"'.repeat(500_000), b: 'x'.repeat(1_000_000), c: '1.2.3.4' });
    const redact = (): void => expect(redactRow(row)?.endsWith('"c":"REDACTED"}')).toBe(true);
    expect(cpuTime(redact)).toBeLessThan(2000);
  });
});
