import { readFileSync } from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { testFileSchema, testSchema } from '../../../src/cli/endpoint-tests/test-file';

const PAGE = readFileSync(path.join(__dirname, '../../../docs/endpoints.md'), 'utf8');

function firstColumn(heading: string): string[] {
  const table = PAGE.split('\n\n').find((paragraph) => paragraph.startsWith(`| ${heading} `)) ?? '';
  return [...table.matchAll(/^\| `?(\w+)`? +\|/gm)].map(([, word]) => word ?? '').filter((word) => word !== heading);
}

describe('docs/endpoints.md on tests', () => {
  it('lists every member of a file, and of a test', () => {
    expect(firstColumn('member')).toEqual(Object.keys(testFileSchema.shape));
    expect(firstColumn('item')).toEqual(Object.keys(testSchema.shape));
  });

  it('has an example that can be read', () => {
    const [, example = ''] = /```yaml\n(clock:[^]*?)```/.exec(PAGE) ?? [];
    expect(testFileSchema.safeParse(parse(example)).success).toBe(true);
  });
});
