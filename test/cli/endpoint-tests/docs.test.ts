import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { testFileSchema, testSchema } from '../../../src/cli/endpoint-tests/test-file';
import { EXIT } from '../../../src/cli/surroundings';

const PAGE = readFileSync(path.join(__dirname, '../../../docs/testing-endpoints.md'), 'utf8');

function firstColumn(heading: string): string[] {
  const table = PAGE.split('\n\n').find((paragraph) => paragraph.startsWith(`| ${heading} `)) ?? '';
  return [...table.matchAll(/^\| `?(\w+)`? +\|/gm)].map(([, word]) => word ?? '').filter((word) => word !== heading);
}

describe('docs/testing-endpoints.md', () => {
  it('lists every member of a file, and of a test', () => {
    expect(firstColumn('member')).toEqual(Object.keys(testFileSchema.shape));
    expect(firstColumn('item')).toEqual(Object.keys(testSchema.shape));
  });

  it('lists the exit codes', () => {
    expect(
      firstColumn('exit code')
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual(Object.values(EXIT));
  });

  it('has an example that can be read', () => {
    const [, example = ''] = /```yaml\n([^]*?)```/.exec(PAGE) ?? [];
    expect(testFileSchema.safeParse(parse(example)).success).toBe(true);
  });
});
