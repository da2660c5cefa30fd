/** Lines of bytes make the same bodies as texts do. */
import { withRoom } from '../../packages/duckdb-engine/src/contract/contract';
import { linesBody } from '../../src/rendering/lines-body';
import { render } from '../../src/rendering/render';

const ROWS = ['{"a":1}', '{"a":"ä\\n😀"}', '{}', `{"long":"${'x'.repeat(1000)}"}`];
const FORMS = ['application/json', 'application/x-ndjson'] as const;

/** @param at how many rows are in each part */
function partsOf(rows: readonly string[], at: number): Buffer[] {
  const starts = Array.from({ length: Math.ceil(rows.length / at) }, (_, i) => i * at);
  return starts.map((start) =>
    Buffer.from(
      rows
        .slice(start, start + at)
        .map((row) => `${row}\n`)
        .join(''),
    ),
  );
}

describe.each(FORMS)('%s', (form) => {
  test.each([
    [0, 1],
    [1, 1],
    [4, 1],
    [4, 3],
    [4, 4],
  ])('%i rows, %i in a part', async (count, at) => {
    const rows = ROWS.slice(0, count);
    const expected = render({ columns: ['a'], rows, truncated: true }, form, 10_000);
    const body = await linesBody({ parts: partsOf(rows, at) }, form, true, expected.bytes.length);
    expect(body.bytes.toString()).toBe(expected.bytes.toString());
    expect(body).toMatchObject({ etag: expected.etag, truncated: true, representation: form });
    expect(body.bytes.buffer.byteLength).toBe(body.bytes.length);
    const tooShort = linesBody({ parts: partsOf(rows, at) }, form, true, expected.bytes.length - 1);
    await expect(tooShort).rejects.toMatchObject({ reason: 'resourcesExceeded' });
  });

  test.each([1, 4])('%i rows with room around them become the body', async (count) => {
    const rows = ROWS.slice(0, count);
    const expected = render({ columns: ['a'], rows, truncated: true }, form, 10_000);
    const [lines = Buffer.alloc(0)] = partsOf(rows, count);
    const part = withRoom(lines.length);
    part.set(lines);
    const body = await linesBody({ parts: [part] }, form, true, expected.bytes.length);
    expect(body.bytes.buffer).toBe(part.buffer);
    expect([body.bytes.toString(), body.etag]).toEqual([expected.bytes.toString(), expected.etag]);
  });
});
