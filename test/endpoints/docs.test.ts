import { readFileSync } from 'node:fs';
import path from 'node:path';

import { check } from '../../src/endpoints/check';
import { declarationSchema, settingsSchema } from '../../src/endpoints/settings';
import { QueryFolder } from './folder';

const PAGE = readFileSync(path.join(__dirname, '../../docs/endpoints.md'), 'utf8');

/** The code words in the first column of the table that begins with a heading cell. */
function firstColumn(heading: string): string[] {
  const table = PAGE.split('\n\n').find((paragraph) => paragraph.startsWith(`| ${heading} `)) ?? '';
  return table.split('\n').flatMap((row) => {
    const cell = row.split('|')[1] ?? '';
    return [...cell.matchAll(/`(\w+)`/g)].map(([, word]) => word ?? '');
  });
}

/** Each example is a whole file of its own. */
const EXAMPLES = [...PAGE.matchAll(/```sql\n([^]*?)```/g)].map(([, text]) => text ?? '');

describe('docs/endpoints.md', () => {
  it('lists every setting, and no other', () => {
    expect(firstColumn('setting').sort()).toEqual(Object.keys(settingsSchema.shape).sort());
  });

  it('lists what a declaration may say, and nothing else', () => {
    expect(firstColumn('key').sort()).toEqual(Object.keys(declarationSchema.shape).sort());
  });

  it('lists every type of parameters, and no other; lists are of every one but regex', () => {
    const types = firstColumn('type').sort();
    const lists = types.filter((type) => type !== 'regex').map((type) => `${type}[]`);
    expect([...types, ...lists].sort()).toEqual([...declarationSchema.shape.type.options].sort());
  });

  it('has examples without a fault', async () => {
    expect(EXAMPLES).toHaveLength(2);
    const folder = await QueryFolder.create({ 'a.sql': EXAMPLES[0] ?? '', 'b.sql': EXAMPLES[1] ?? '' });
    try {
      const lines: string[] = [];
      expect(await check(folder.path, (line) => lines.push(line))).toBe(0);
      expect(lines).toEqual([`${folder.file('a.sql')}: OK`, `${folder.file('b.sql')}: OK`]);
    } finally {
      await folder.remove();
    }
  });
});

it('the problem matcher of docs/endpoints.md finds the faults that check prints', async () => {
  const [, tasks = ''] = /```json\n(\{\n {2}"version"[^]*?)```/.exec(PAGE) ?? [];
  const pattern = JSON.parse(tasks).tasks[0].problemMatcher.pattern as { regexp: string; file: number; line: number };
  const folder = await QueryFolder.create({ 'bad.sql': '/*\nid: 1\n*/\nSELECT 1' });
  try {
    const lines: string[] = [];
    await check(folder.path, (line) => lines.push(line));
    const found = lines.flatMap((line) => {
      const match = new RegExp(pattern.regexp).exec(line);
      return match === null ? [] : [[match[pattern.file], match[pattern.line]]];
    });
    expect(found).toContainEqual([folder.file('bad.sql'), '2']);
  } finally {
    await folder.remove();
  }
});
