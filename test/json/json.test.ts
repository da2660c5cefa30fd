import fc from 'fast-check';

import { endOfString, parseExact, readElements, readMembers, stringValue, writeExact } from '../../src/json';

const INDENTS = fc.constantFrom(0, 1, '\t');

describe('members of an object', () => {
  it('stand as written, whatever the values and the white space', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, '\t'), (object, indent) => {
        const read = readMembers(JSON.stringify(object, null, indent));
        expect(read.map(({ name }) => name)).toEqual(Object.keys(object));
        expect(read.map(({ json }) => JSON.parse(json) as unknown)).toEqual(
          Object.values(JSON.parse(JSON.stringify(object)) as object),
        );
      }),
    );
  });

  it('keep repetitions', () => {
    expect(readMembers('{ "a" : 1 , "a" : 2 }')).toEqual([
      { name: 'a', json: '1' },
      { name: 'a', json: '2' },
    ]);
  });
});

describe('the elements of an array', () => {
  it('are those that JSON.parse reads, as they are written', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), INDENTS, (array, indent) => {
        const read = readElements(JSON.stringify(array, null, indent));
        expect(read.map((json) => JSON.parse(json) as unknown)).toEqual(JSON.parse(JSON.stringify(array)));
      }),
    );
  });

  it('keep their digits, and are at most as many as are wanted', () => {
    expect(readElements('[ 12345678901234567890 , 1e2, [1,2] ]')).toEqual(['12345678901234567890', '1e2', '[1,2]']);
    expect(readElements('[1,2,3]', 2)).toEqual(['1', '2']);
    expect(readElements(' [ ] ')).toEqual([]);
  });
});

describe('a string', () => {
  it('ends where JSON.stringify has ended it', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('\\', '"', 'a', '\n') }), fc.string(), (string, behind) => {
        const json = JSON.stringify(string);
        expect(endOfString(`${json}${behind}`, 0)).toBe(json.length);
        expect(stringValue(json)).toBe(string);
      }),
    );
    expect(endOfString('"open \\"', 0)).toBe(Infinity);
  });
});

describe('exact JSON', () => {
  it('is what JSON.parse reads and JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        expect(writeExact(parseExact(json))).toBe(JSON.stringify(JSON.parse(json)));
      }),
    );
  });

  it('keeps the digits of an INT64', () => {
    expect(parseExact('{"a":[9223372036854775807,"9223372036854775807",1.5]}')).toEqual({
      a: [9223372036854775807n, '9223372036854775807', 1.5],
    });
    fc.assert(fc.property(fc.bigInt(), (n) => expect(writeExact(parseExact(String(n)))).toBe(String(n))));
  });
});
