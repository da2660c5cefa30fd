import fc from 'fast-check';

import { redactText } from '../../src/redaction/redaction';
import { runs } from '../scale';

const TAB = '\t';

describe('what is masked', () => {
  const CASES: readonly (readonly [string, string])[] = [
    ['1.2.3.4', 'REDACTED'],
    ['1.2.3.4:80', 'REDACTED:80'],
    ['1.2.3.4/24', 'REDACTED/24'],
    ['1.2.3.4.443', 'REDACTED.443'],
    ['from 10.0.0.1, 192.168.001.255.', 'from REDACTED, REDACTED.'],
    ['0.0.0.0 255.255.255.255', 'REDACTED REDACTED'],
    ['v1.2.3.4-beta', 'vREDACTED-beta'],
    ['10.0.0.1-10.0.0.9', 'REDACTED-REDACTED'],
    ['ip%3D192.168.1.1%26x', 'ip%3DREDACTED%26x'],
    ['?q=%20192.168.1.1', '?q=%20REDACTED'],
    ['?q=%252010.0.0.1', '?q=%2520REDACTED'],
    ['?q=%201.2.3.4', '?q=%20REDACTED'],
    ['load 100%10.0.0.1', 'load 100%REDACTED'],
    ['{\\"a\\":\\"x\\n10.0.0.1\\u00209.9.9.9\\"}', '{\\"a\\":\\"x\\nREDACTED\\u0020REDACTED\\"}'],
    ['1%2E2%2E3%2E4', 'REDACTED'],
    ['::1', 'REDACTED'],
    ['::', 'REDACTED'],
    ['listen on "::", port 5432', 'listen on "REDACTED", port 5432'],
    ['[::]:80', '[REDACTED]:80'],
    ['fe80::', 'REDACTED'],
    ['2001:db8::5', 'REDACTED'],
    ['2001:DB8:0:0:8:800:200C:417A', 'REDACTED'],
    ['2001:db8::/32', 'REDACTED/32'],
    ['[2001:db8::5]:41', '[REDACTED]:41'],
    ['2001:db8::5.443', 'REDACTED.443'],
    ['2001:db8:0:0:0:0:0:5:443', 'REDACTED:443'],
    ['fe80::1%eth0', 'REDACTED'],
    ['fe80::1%12 next', 'REDACTED next'],
    ['http://[fe80::1%25en0]/', 'http://[REDACTED]/'],
    ['fe80::1%20and', 'REDACTED%20and'],
    ['::ffff:1.2.3.4', 'REDACTED'],
    ['::1.2.3.4', 'REDACTED'],
    ['64:ff9b::192.0.2.33', 'REDACTED'],
    ['1:2:3:4:5:6:1.2.3.4', 'REDACTED'],
    ['1:2:3:4:5:6:7::', 'REDACTED'],
    ['::2:3:4:5:6:7:8', 'REDACTED'],
    ['{"ip":"2001:db8::2"}', '{"ip":"REDACTED"}'],
    ['{\\"ip\\":\\"2001:db8::2\\"}', '{\\"ip\\":\\"REDACTED\\"}'],
    ['client:2001:db8::1', 'client:REDACTED'],
    ['peer:::1', 'peer:REDACTED'],
    ['2001:db8::5: refused', 'REDACTED: refused'],
    ['at 2001:db8::5.', 'at REDACTED.'],
    ['ip=2001%3Adb8%3A%3A5&x', 'ip=REDACTED&x'],
    ['ip%3D%5B2001:db8::5%5D', 'ip%3D%5BREDACTED%5D'],
    ['\\n2001:db8::1\\tfe80::2\\bfe80::3', '\\nREDACTED\\tREDACTED\\bREDACTED'],
    ['%20fe80::1', '%20REDACTED'],
    ['a@[IPv6:2001:db8::1]', 'a@[IPv6:REDACTED]'],
    ['a@[1.2.3.4]', 'a@[REDACTED]'],
    ['ana@example.com', 'REDACTED'],
    ['<ana@example.com>,bo@example.org.', '<REDACTED>,REDACTED.'],
    ['first.last+tag@sub.example.co.uk', 'REDACTED'],
    ["o'brien@example.com", 'REDACTED'],
    ["email = 'ana@example.com'", "email = 'REDACTED'"],
    ['"john doe"@example.com', 'REDACTED'],
    ['\\"john doe\\"@example.com', 'REDACTED'],
    ['mailto:ana@example.com?subject=x', 'mailto:REDACTED?subject=x'],
    ['/login?email=ana@example.com&x=1', '/login?email=REDACTED&x=1'],
    ['ana%40example.com', 'REDACTED'],
    ['email%3Dana%2Btag%40example.com%26x', 'email%3DREDACTED%26x'],
    ['ana%2540example%252Ecom', 'REDACTED'],
    ['%22ana@example.com%22', '%22REDACTED%22'],
    ['{\\"a\\":\\"x\\nana@example.com\\"}', '{\\"a\\":\\"x\\nREDACTED\\"}'],
    ['ana\\u0040example.com', 'REDACTED'],
    ['ana\\u002btag\\\\u0040example.com', 'REDACTED'],
    ['J\\u00fcrgen@ex\\u00e4mple.com', 'REDACTED'],
    ['j%C3%BCrgen%40ex%C3%A4mple.com', 'REDACTED'],
    ['ana&#64;example.com', 'REDACTED'],
    ['{"ip":"\\u0031.2.3.4"}', '{"ip":"REDACTED"}'],
    ['{"ip":"1.2.3\\u002E\\u0034"}', '{"ip":"REDACTED"}'],
    ['{"a":"{\\"ip\\":\\"\\\\u0031.2.3.4\\"}"}', '{"a":"{\\"ip\\":\\"REDACTED\\"}"}'],
    ['\\u0066e80\\u003a\\u003A1\\u0025eth0', 'REDACTED'],
    ['x\\u00202001:db8::\\u0035\\u0020y', 'x\\u0020REDACTED\\u0020y'],
    ['http:\\/\\/1.2.3.4\\/a http:\\/\\/[\\u003a:1]\\/', 'http:\\/\\/REDACTED\\/a http:\\/\\/[REDACTED]\\/'],
    ['\\/ana@example.com\\/', '\\/REDACTED\\/'],
    ['<\\ud835\\udc1a\\uD83D\\uDE00n@example.com>', '<REDACTED>'],
    ['\\u0022john doe\\u0022\\uff20ex\\u00e4mple\\u002e\\u0063om', 'REDACTED'],
    ['üser@exämple.de', 'REDACTED'],
    ['用户@例子.广告', 'REDACTED'],
    ['用户@例子。广告', 'REDACTED'],
    ['x@xn--exmple-cua.xn--p1ai', 'REDACTED'],
    ['a@127.0.0.1', 'a@REDACTED'],
    ['realtime@127.0.0.1', 'realtime@REDACTED'],
    ['a@127.0.0.1.example.com', 'REDACTED'],
    ['1.2.3.4@example.com', 'REDACTED'],
    ['postgres://app:pw@db.example.com/x', 'postgres://app:REDACTED/x'],
    ['...ana@example.com...', '...REDACTED...'],
    ['ana@example.com-x', 'REDACTED-x'],
    [`ana@example.com${TAB}1.1.1.1`, `REDACTED${TAB}REDACTED`],
    ['@ana@example.social', '@REDACTED'],
  ];
  it.each(CASES)('%s', (text, expected) => {
    expect(redactText(text)).toBe(expected);
  });
});

describe('what stays', () => {
  it.each([
    '',
    'REDACTED',
    '300.1.1.1',
    '1.2.3',
    '1.2.3.4567',
    'Chrome/140.0.7339.185 Safari/537.36',
    'client-js/2.58.0',
    'node@20.11.0',
    'lodash@4.17.21 left-pad@1.0.0-alpha.1',
    'actions/checkout@v4.1',
    'root@localhost postgres@db-default',
    'Foo::Bar',
    'std::string',
    'Abc::Def',
    'A::B::C',
    'a::b::c::Foo',
    'Elixir.RealtimeWeb.Channel',
    'std::vec::Vec<u8>',
    "'x'::text, y::int",
    'arn:aws:iam::123456789012:role/x',
    'arn:aws:s3:::bucket',
    'li:first-child::before',
    '550e8400-e29b-41d4-a716-446655440000',
    'urn:uuid:550e8400-e29b-41d4-a716-446655440000',
    '2026-09-30T11:00:00',
    '2026-09-30T11:00:00.123456Z',
    '2026-09-30 11:00:00.123+02:00',
    '29/Sep/2026:03:19:49 +0000',
    '11:00:00',
    '00:1a:2b:3c:4d:5e',
    '00-1A-2B-3C-4D-5E',
    '001a.2b3c.4d5e',
    '00:1a:2b:ff:fe:3c:4d:5e',
    'SHA256:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48',
    'deadbeef cafe:babe 0x7f000001',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:g',
    'localhost:5432, 10:20',
    '<0.3139.0>',
    '{"a":1,"b":[1.5,2.5]}',
    'C:\\users\\ana',
    '@decorator.name',
    'ana@',
    '@',
    '% 100% %zz',
  ])('%s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

const octet = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
/** Every spelling of RFC 4291, but for lone `::` and groups of two digits only, which are other things too. */
const ipv6 = fc.ipV6().filter((address) => address !== '::' && !/^(?:[0-9a-f]{2}:){7}[0-9a-f]{2}$/i.test(address));
const word = fc.stringMatching(/^[a-z][a-z0-9_-]{0,8}$/);
const email = fc
  .tuple(
    fc.stringMatching(/^[a-z0-9]([a-z0-9._+-]{0,10}[a-z0-9])?$/),
    fc.array(fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,6}[a-z0-9])?$/), { minLength: 1, maxLength: 3 }),
    fc.constantFrom('com', 'example', 'museum', 'xn--p1ai', 'рф'),
  )
  .map(([local, labels, top]) => `${local}@${labels.join('.')}.${top}`);
const separator = fc.constantFrom(
  ' ',
  ',',
  ';',
  '"',
  "'",
  '(',
  ')',
  '<',
  '>',
  '=',
  '|',
  '\n',
  '\t',
  '\\n',
  '\\"',
  '%20',
  '%22',
  '\u3000',
  '/',
);

describe('generated addresses', () => {
  const many = runs(3000);
  it.each([
    ['IPv4', ipv4],
    ['IPv6', ipv6],
    ['e-mail', email],
  ])('%s vanishes between any two separators, and nothing else does', (_kind, address) => {
    fc.assert(
      fc.property(word, separator, address, separator, word, (before, left, found, right, after) => {
        // An apostrophe between letters is part of a mail address: o'brien@example.com.
        fc.pre(!(left === "'" && found.includes('@')));
        expect(redactText(before + left + found + right + after)).toBe(`${before}${left}REDACTED${right}${after}`);
      }),
      many,
    );
  });

  it('IPv4 vanishes between any two texts', () => {
    fc.assert(
      fc.property(fc.string(), ipv4, fc.string(), (before, address, after) => {
        // A digit beside the address makes another number of its first or last one.
        fc.pre(!/[\d.]$/.test(before) && !/^\d/.test(after));
        expect(redactText(before + address + after)).not.toContain(address);
      }),
      many,
    );
  });

  it.each([
    ['IPv4', ipv4],
    ['IPv6', ipv6],
    ['e-mail', email],
  ])('%s vanishes however JSON in JSON writes its characters', (_kind, address) => {
    const escapes = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 64, maxLength: 64 });
    fc.assert(
      fc.property(word, address, escapes, word, (before, found, depths, after) => {
        // The depth of strings within strings that a character is escaped in; 0: it is written as it is.
        const written = Array.from({ length: found.length }, (_, i) => {
          const depth = depths[i % 64] ?? 0;
          const code = found.charCodeAt(i).toString(16).padStart(4, '0');
          return depth === 0 ? found.charAt(i) : `${'\\'.repeat(2 ** (depth - 1))}u${code}`;
        }).join('');
        expect(redactText(`${before} ${written} ${after}`)).toBe(`${before} REDACTED ${after}`);
      }),
      many,
    );
  });

  it('redacting twice is redacting once', () => {
    const piece = fc.oneof(
      ipv4,
      ipv6,
      email,
      word,
      separator,
      fc.string(),
      fc.constantFrom(':', '::', '.', '@', '%', '%40', '\\', '\\u0031', '\\u003a', '\\u002e', '\\u0040', 'REDACTED'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = redactText(pieces.join(''));
        expect(redactText(once)).toBe(once);
      }),
      many,
    );
  });
});

describe('generated texts without addresses', () => {
  it('keep every byte', () => {
    const hex2 = fc.integer({ min: 0, max: 255 }).map((n) => n.toString(16).padStart(2, '0'));
    const instant = fc
      .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
      .map((date) => date.toISOString());
    const mac = fc.array(hex2, { minLength: 6, maxLength: 6 }).map((bytes) => bytes.join(':'));
    const name = fc
      .tuple(fc.stringMatching(/^[G-Z][a-z]{1,5}$/), fc.stringMatching(/^[G-Z][a-z]{1,5}$/))
      .map((parts) => parts.join('::'));
    const version = fc.tuple(fc.nat(999), fc.nat(999), fc.nat(999)).map((parts) => parts.join('.'));
    const tooLarge = fc
      .tuple(fc.integer({ min: 256, max: 999 }), octet, octet, octet)
      .map((octets) => octets.join('.'));
    const piece = fc.oneof(fc.uuid(), instant, mac, name, version, tooLarge, word);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join(' ');
        expect(redactText(text)).toBe(text);
      }),
      { ...runs(3000) },
    );
  });
});

describe('time', () => {
  it.each([
    ['colons', ':'],
    ['hexadecimal digits', 'a'],
    ['digits', '1'],
    ['groups', 'a:'],
    ['doubled colons', 'a::'],
    ['dots', '1.'],
    ['short dots', '.'],
    ['signs', 'a@'],
    ['signs with domains', '"@a.bc'],
    ['labels', 'a@b.'],
    ['percent signs', '%25'],
    ['backslashes', '\\'],
    ['quotes', '\\"@a.bc'],
  ])('stays in proportion to the text: %s', (_what, unit) => {
    const time = (text: string) => {
      const start = performance.now();
      redactText(text);
      return performance.now() - start;
    };
    time(unit.repeat(1000));
    // 400,000 characters: quadratic work would take minutes.
    expect(time(unit.repeat(Math.ceil(400_000 / unit.length)) + ' x@y.zz ::1 1.2.3.4')).toBeLessThan(3000);
  });
});
