import { countsOf, type Report } from './report';

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
