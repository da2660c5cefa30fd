import type { EngineName } from './engine-of-tests';
import type { FileResult } from './outcome';

/** Everything that ran. */
export interface Report {
  readonly engine: EngineName;
  readonly files: readonly FileResult[];
}

/** What a report counts: a file that could not be run is a failure of its own. */
export function countsOf({ files }: Report): { passed: number; failed: number; updated: number } {
  const tests = files.flatMap((file) => file.tests);
  const failed = tests.filter(({ differences }) => differences.length > 0).length;
  const broken = files.filter(({ faults }) => faults.length > 0).length;
  const updated = files.reduce((sum, file) => sum + file.updated, 0);
  return { passed: tests.length - failed, failed: failed + broken, updated };
}

/** One file, for people. */
export function textOfFile({ path, faults, tests }: FileResult): string[] {
  return [
    path,
    ...tests.flatMap(({ name, differences }) => [
      `  ${differences.length === 0 ? 'ok    ' : 'FAILED'} ${name}`,
      ...differences.map((line) => `         ${line}`),
    ]),
    ...faults.map((line) => `  FAILED ${line}`),
  ];
}

/** The last line. */
export function textOfTotal(report: Report): string {
  const { passed, failed, updated } = countsOf(report);
  return `${String(passed)} passed, ${String(failed)} failed${updated === 0 ? '' : `, ${String(updated)} updated`} (${report.engine})`;
}

/** The report in TAP 14 (testanything.org). */
export function tapOf({ files }: Report): string[] {
  const points = files.flatMap(({ path, faults, tests }) => [
    ...tests.map(({ name, differences, duration }) => ({ name: `${path}: ${name}`, differences, duration })),
    ...(faults.length === 0 ? [] : [{ name: path, differences: faults, duration: 0 }]),
  ]);
  return [
    'TAP version 14',
    `1..${String(points.length)}`,
    ...points.flatMap(({ name, differences, duration }, i) => {
      const passed = differences.length === 0;
      const line = `${passed ? 'ok' : 'not ok'} ${String(i + 1)} - ${escaped(name)}`;
      const message = differences.map((difference) => `    ${difference}`);
      const block = [
        '  ---',
        `  duration_ms: ${duration.toFixed(3)}`,
        ...(passed ? [] : ['  message: |', ...message]),
        '  ...',
      ];
      return [line, ...block];
    }),
  ];
}

/** `#` begins a directive, `\` escapes it; a description is one line. */
function escaped(name: string): string {
  return name.replace(/[\\#]/g, '\\$&').replace(/\s+/g, ' ');
}

/** The report in the XML of JUnit, as CI systems read it. */
export function junitOf(report: Report): string[] {
  const { passed, failed } = countsOf(report);
  const suites = report.files.flatMap(({ path, faults, tests }) => {
    const failures = tests.filter(({ differences }) => differences.length > 0).length;
    const broken = faults.length > 0;
    const total = tests.length + (broken ? 1 : 0);
    return [
      `  <testsuite name="${xml(path)}" tests="${String(total)}" failures="${String(failures)}" errors="${broken ? '1' : '0'}">`,
      ...tests.map(({ name, differences, duration }) => {
        const open = `    <testcase classname="${xml(path)}" name="${xml(name)}" time="${(duration / 1000).toFixed(6)}"`;
        if (differences.length === 0) return `${open}/>`;
        return `${open}><failure message="${xml(differences[0] ?? '')}">${xml(differences.join('\n'))}</failure></testcase>`;
      }),
      ...(broken
        ? [
            `    <testcase classname="${xml(path)}" name="${xml(path)}"><error>${xml(faults.join('\n'))}</error></testcase>`,
          ]
        : []),
      '  </testsuite>',
    ];
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="logquay test (${report.engine})" tests="${String(passed + failed)}" failures="${String(failed)}">`,
    ...suites,
    '</testsuites>',
  ];
}

/** Text and attribute values; characters that XML 1.0 cannot hold are replaced. */
function xml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}')
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;');
}
