import { invalid } from '../../query/error';
import { parseBody } from '../body';

/** The two parts of a `multipart/related` upload: the job as JSON, and the file. @throws BigQueryError */
export function multipart(raw: Buffer, type: string): { body: Readonly<Record<string, unknown>>; media: Buffer } {
  const match = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) throw invalid('A multipart upload names its boundary');
  const parts = partsOf(raw, `--${boundary}`);
  const [job, file] = parts;
  if (job === undefined || file === undefined) throw invalid('A multipart upload has two parts');
  return { body: parseBody(job), media: file };
}

/** The contents between the lines that hold `delimiter`, without their headers. */
function partsOf(raw: Buffer, delimiter: string): Buffer[] {
  const parts: Buffer[] = [];
  let at = raw.indexOf(delimiter);
  while (at !== -1) {
    const next = raw.indexOf(delimiter, at + delimiter.length);
    if (next === -1) break;
    const part = raw.subarray(at + delimiter.length, next);
    const headers = part.indexOf('\r\n\r\n') === -1 ? part.indexOf('\n\n') : part.indexOf('\r\n\r\n');
    const blank = part.indexOf('\r\n\r\n') === -1 ? 2 : 4;
    const end = part.at(-2) === 13 ? part.length - 2 : part.length - 1;
    if (headers !== -1) parts.push(part.subarray(headers + blank, end));
    at = next;
  }
  return parts;
}
