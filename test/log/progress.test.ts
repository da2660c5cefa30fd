import { inWords, progressLines, StatusLine } from '../../src/log/status-line';

/** What a terminal of that width shows in the end; it does what CR, LF and EL say. */
class Screen {
  readonly isTTY = true;
  #lines = [''];
  #column = 0;

  constructor(readonly columns: number) {}

  write(text: string): boolean {
    for (const [, control, plain = ''] of text.matchAll(/(\r|\n|\u001b\[K)|([^\r\n\u001b]+)/g)) {
      const line = this.#lines.pop() ?? '';
      if (control === '\n') this.#lines.push(line, '');
      else this.#lines.push(control === '\u001b[K' ? line.slice(0, this.#column) : line.slice(0, this.#column) + plain);
      if (control === undefined) this.#column += plain.length;
      else if (control !== '\u001b[K') this.#column = 0;
    }
    return true;
  }

  get lines(): readonly string[] {
    for (const line of this.#lines) expect(line.length).toBeLessThanOrEqual(this.columns);
    return this.#lines;
  }
}

const rows = (done: number) => ({ what: 'Making sample logs', done, total: 52_000, unit: 'rows' });

it('is logged with counts and percent', () => {
  expect(inWords(rows(1300))).toBe('Making sample logs: 1,300 of 52,000 rows (2 %)');
  expect(inWords(rows(51_999))).toBe('Making sample logs: 51,999 of 52,000 rows (99 %)');
  expect(inWords(rows(52_000))).toBe('Making sample logs: 52,000 of 52,000 rows (100 %)');
  expect(inWords({ what: 'Converting a', done: 41.7, total: 100, unit: '%' })).toBe('Converting a: 41 %');
  expect(inWords({ what: 'Reading a', done: 0, total: 0, unit: 'MB' })).toBe('Reading a: 0 of 0 MB (100 %)');
});

describe('on a terminal', () => {
  it('is one line, below all others, and gone in the end', () => {
    const screen = new Screen(80);
    let now = 0;
    const line = new StatusLine(screen, () => now);
    line.write('first\n');
    line.show(rows(100));
    expect(screen.lines).toEqual(['first', 'Making sample logs: 100 of 52,000 rows (0 %)']);
    line.write('second\n');
    now += 100;
    line.show(rows(26_000));
    expect(screen.lines).toEqual(['first', 'second', 'Making sample logs: 26,000 of 52,000 rows (50 %)']);
    line.show(null);
    line.write('third\n');
    expect(screen.lines).toEqual(['first', 'second', 'third', '']);
  });
});

it('is lines of the log elsewhere, only of what takes long', () => {
  const written: unknown[] = [];
  let now = 0;
  const progress = progressLines(
    (facts, message) => written.push([message, facts]),
    () => now,
  );
  for (; now <= 12_000; now += 100) progress(rows(now));
  progress({ what: 'Something short', done: 1, total: 2, unit: '%' });
  progress(null);
  now += 100_000;
  progress({ what: 'Something else', done: 1, total: 100, unit: '%' });
  now += 5_000;
  progress({ what: 'Something else', done: 50, total: 100, unit: '%' });
  expect(written).toEqual([
    ['Making sample logs', { done: 5000, total: 52_000, unit: 'rows', percent: 9 }],
    ['Making sample logs', { done: 10_000, total: 52_000, unit: 'rows', percent: 19 }],
    ['Something else', { percent: 50 }],
  ]);
});
