import { readFileSync } from 'node:fs';
import path from 'node:path';

import { redactText } from '../../src/redaction/redaction';

const PAGE = readFileSync(path.join(__dirname, '../../docs/redaction.md'), 'utf8');
const TABLE = PAGE.split('\n\n').find((paragraph) => paragraph.startsWith('| text ')) ?? '';
const ROWS = [...TABLE.matchAll(/^\| `([^`]+)` +\| `([^`]+)` +\|$/gm)].map(([, text = '', shown = '']) => [
  text,
  shown,
]);

describe('docs/redaction.md', () => {
  it('has a table', () => {
    expect(ROWS.length).toBeGreaterThan(10);
  });

  it.each(ROWS)('%s becomes %s', (text, shown) => {
    expect(redactText(text ?? '')).toBe(shown);
  });
});
