import fc from 'fast-check';
import { QueryError } from '../src/errors';
import { lex } from '../src/lexer';
import { runs } from '../../../test/scale';

function values(text: string): string[] {
  return lex(text)
    .slice(0, -1)
    .map(({ kind, value }) => (kind === 'symbol' || kind === 'identifier' ? value : `${kind}:${value}`));
}

function fault(text: string): { message: string; start: number; end: number } {
  try {
    lex(text);
  } catch (error) {
    if (!(error instanceof QueryError) || error.span === null) throw error;
    expect(error.fault).toBe('invalidQuery');
    return { message: error.message, ...error.span };
  }
  throw new Error(`accepted: ${text}`);
}

describe('literals', () => {
  it.each([
    [`'a' "b" '''c''' """d"""`, ['string:a', 'string:b', 'string:c', 'string:d']],
    [`'''a'b''c\\'''d'''`, [`string:a'b''c'''d`]],
    [`'' "" '''''' `, ['string:', 'string:', 'string:']],
    [String.raw`'\a\b\f\n\r\t\v\\\?\"\'\`'`, ['string:\x07\b\f\n\r\t\v\\?"\'`']],
    [String.raw`'\101\x41\X41\u0041\U00000041\U0001f600'`, ['string:AAAAA😀']],
    [String.raw`'\377' b'\377'`, ['string:ÿ', 'bytes:ÿ']],
    [`b'é'`, ['bytes:Ã©']],
    [
      String.raw`r'\d\'' R"\"" br'\x' Rb"\n" bR'''a'''`,
      [String.raw`string:\d\'`, String.raw`string:\"`, String.raw`bytes:\x`, String.raw`bytes:\n`, 'bytes:a'],
    ],
    [`'''a\r\nb\rc'''`, ['string:a\nb\nc']],
    ["r'a\\\nb'", ['string:a\\\nb']],
    ["r'a\\\r\nb'", ['string:a\\\r\nb']],
    ['`a b` `a\\x41` `a\\`b`', ['a b', 'aA', 'a`b']],
  ])('reads %j', (text, expected) => {
    expect(values(text)).toEqual(expected);
  });

  it.each([
    [String.raw`'a\d'`, 2, 4],
    [String.raw`'\8'`, 1, 3],
    [String.raw`'\12'`, 1, 2],
    [String.raw`'\4'`, 1, 3],
    [String.raw`'\x4'`, 1, 3],
    [String.raw`'\u00e'`, 1, 3],
    [String.raw`'\ud800'`, 1, 7],
    [String.raw`'\U00110000'`, 1, 11],
    [String.raw`b'\u0041'`, 2, 8],
    ["'a\\\nb'", 2, 3],
    ["'a\nb'", 0, 1],
    ["'a", 0, 1],
    ["'a\\'", 0, 1],
    ["r'\\'", 0, 2],
    ["'''a''", 0, 3],
    ['`a', 0, 1],
    ['`a\nb`', 0, 1],
    ['``', 0, 2],
    ['/* a', 0, 2],
  ])('refuses %j at its place', (text, start, end) => {
    expect(fault(text)).toMatchObject({ start, end });
  });
});

describe('numbers, names and symbols', () => {
  it.each([
    [
      '1 1. .5 1.5e-3 1e5 1.e5 0x1F',
      ['integer:1', 'float:1.', 'float:.5', 'float:1.5e-3', 'float:1e5', 'float:1.e5', 'integer:0x1F'],
    ],
    ['1.x', ['float:1.', 'x']],
    ['a.1', ['a', '.', '1']],
    ['a.1b.2e5.0x1', ['a', '.', '1b', '.', '2e5', '.', '0x1']],
    ['a .1 f(x).2 y[0].3', ['a', '.', '1', 'f', '(', 'x', ')', '.', '2', 'y', '[', 'integer:0', ']', '.', '3']],
    ['end .5', ['end', 'float:.5']],
    ['a<b>>c<>d|>e=>f||g', ['a', '<', 'b', '>>', 'c', '<>', 'd', '|>', 'e', '=>', 'f', '||', 'g']],
    ['@a @@b.c ?', ['@', 'a', '@@', 'b', '.', 'c', '?']],
    ['a--b\rc#d\ne/*f/*g*/h', ['a', 'c', 'e', 'h']],
    ['a\bb\u00a0c\u2003d\u3000e', ['a', 'b', 'c', 'd', 'e']],
  ])('reads %j', (text, expected) => {
    expect(values(text)).toEqual(expected);
  });

  it('takes any word for a name after a dot or an at-sign', () => {
    const reserved = lex('select a.select, @from, select').filter((token) => token.reserved);
    expect(reserved.map(({ start }) => start)).toEqual([0, 24]);
  });

  it.each(['1a', '1e', '1.5a', '0x', '0x1g', '.5a', '1_000', '1.e5x'])('refuses the number %s', (text) => {
    expect(fault(text)).toMatchObject({ start: 0 });
  });

  it.each(['é', 'е', '\u1680', '\u200b', '\ufeff', '{', '$', '%', '!', '\\', '\x01', '\u0085'])(
    'refuses %j',
    (text) => {
      expect(fault(`a ${text}`)).toMatchObject({ start: 2, end: 3 });
    },
  );
});

describe('bounds', () => {
  it('counts bytes of UTF-8', () => {
    expect(() => lex(`'${'é'.repeat(32_767)}'`)).not.toThrow();
    expect(fault(`'${'é'.repeat(32_767)}' `)).toMatchObject({ start: 32_769 });
    expect(fault(`'${'😀'.repeat(16_384)}'`)).toMatchObject({ start: 32_767 });
  });

  it('counts tokens', () => {
    expect(lex('1,'.repeat(10_000))).toHaveLength(20_001);
    expect(fault('1,'.repeat(10_000) + ' 1')).toMatchObject({ start: 20_001, end: 20_002 });
  });

  it.each([
    ['(', ')', 1],
    ['[', ']', 1],
    ['case ', ' end', 4],
  ])('counts nesting of %j', (open, close, length) => {
    expect(() => lex(open.repeat(100) + '1' + close.repeat(100))).not.toThrow();
    expect(fault(open.repeat(101))).toMatchObject({ start: 100 * open.length });
    expect(() => lex(`${open}1${close} `.repeat(200))).not.toThrow();
    expect(length).toBeLessThanOrEqual(open.length);
  });

  it.each([
    ['a\0b', 1],
    ["'\0'", 1],
    ['a \ud800', 2],
    ["'\udc00a'", 1],
    ["'\ud83d", 1],
  ])('refuses %j', (text, start) => {
    expect(fault(text)).toMatchObject({ start, end: start + 1 });
  });
});

describe('the end of a statement', () => {
  it('leaves what follows the first top-level semicolon unread', () => {
    const rest = lex("select 1; select 'open").find(({ kind }) => kind === 'rest');
    expect(rest).toMatchObject({ start: 10, end: 22 });
    expect(lex('select 1; -- x\n/* y */').map(({ kind }) => kind)).not.toContain('rest');
    expect(lex('select (1; 2)').map(({ kind }) => kind)).not.toContain('rest');
  });
});

it('covers every text with tokens, blanks and comments, or refuses it', () => {
  const words = `' " ''' \` \\ r b x41 1 . e5 a _ -- # /* */ ( ] ; @ |> é`.split(' ');
  const piece = fc.constantFrom(...words, ' ', '\n');
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      try {
        let at = 0;
        for (const { start, end, kind } of lex(text)) {
          expect(start).toBeGreaterThanOrEqual(at);
          expect(end).toBeGreaterThan(kind === 'end' ? -1 : start);
          at = end;
        }
        expect(at).toBe(text.length);
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        expect(error.span?.end).toBeLessThanOrEqual(text.length);
      }
    }),
    { ...runs(3000) },
  );
});
