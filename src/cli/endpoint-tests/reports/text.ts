import type { FileResult } from '../outcome';
import { countsOf, type Report } from './report';

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
