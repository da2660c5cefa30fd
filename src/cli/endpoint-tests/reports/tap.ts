import type { Report } from './report';

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
