import { randomUUID } from 'node:crypto';
import { BigQueryError, invalid, notFound } from '../../query/error';
import { type Warehouse } from '../../warehouse/warehouse';
import { MOST_BYTES, parseBody } from '../body';
import { newJobId } from '../jobs';
import { type QueryContext } from '../queries';
import { labels, record, text } from '../read';
import { ok, type ApiReply, type ApiRequest } from '../routes';
import { LoadJob } from './load-job';
import { multipart } from './multipart';
import { loadResource } from './resource';

/** A resumable upload under way. */
interface Session {
  readonly project: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly parts: Buffer[];
  bytes: number;
}

/** The oldest goes when there are more. */
const MOST_SESSIONS = 16;

/** The upload of files for load jobs: in one request, or in a session of several. */
export class Uploads {
  private readonly sessions = new Map<string, Session>();

  constructor(
    private readonly context: QueryContext,
    private readonly warehouse: Warehouse,
  ) {}

  /** POST /upload/.../jobs?uploadType=multipart|resumable */
  begin({ path, query, raw, headers, origin }: ApiRequest): ApiReply {
    const project = path['project'] ?? '';
    if (query.get('uploadType') === 'multipart') {
      const { body, media } = multipart(raw, headers['content-type'] ?? '');
      return this.load(project, body, media);
    }
    if (query.get('uploadType') !== 'resumable') throw invalid('uploadType is multipart or resumable', 'uploadType');
    const id = randomUUID();
    this.sessions.set(id, { project, body: parseBody(raw), parts: [], bytes: 0 });
    for (const oldest of [...this.sessions.keys()].slice(0, -MOST_SESSIONS)) this.sessions.delete(oldest);
    const location = `${origin}/upload/bigquery/v2/projects/${project}/jobs?uploadType=resumable&upload_id=${id}`;
    return { status: 200, json: null, headers: { Location: location, 'X-GUploader-UploadID': id } };
  }

  /** PUT of a session: a part of the file by its `Content-Range`, or the question how much has come. */
  resume({ query, raw, headers }: ApiRequest): ApiReply {
    const id = query.get('upload_id') ?? '';
    const session = this.sessions.get(id);
    if (session === undefined) throw notFound('Upload');
    const range = /^bytes (?:\*|(\d+)-(\d+))\/(\*|\d+)$/.exec(headers['content-range'] ?? `bytes 0-0/${raw.length}`);
    if (range === null) throw invalid('Invalid Content-Range');
    const [, start, , total] = range;
    const first = headers['content-range'] === undefined ? 0 : Number(start ?? session.bytes);
    if (first !== session.bytes) return incomplete(session);
    if (session.bytes + raw.length > MOST_BYTES)
      throw new BigQueryError('requestTooLarge', 'The upload exceeds the limit', {}, 413);
    if (raw.length > 0) session.parts.push(raw);
    session.bytes += raw.length;
    if (total === '*' || session.bytes < Number(total)) return incomplete(session);
    this.sessions.delete(id);
    return this.load(session.project, session.body, Buffer.concat(session.parts));
  }

  private load(project: string, body: Readonly<Record<string, unknown>>, media: Buffer): ApiReply {
    const { jobs, location: here } = this.context;
    const configuration = record(body['configuration']);
    if (configuration['load'] === undefined) throw invalid('Only a load job takes an upload');
    labels(configuration['labels']);
    const requested = record(body['jobReference']);
    const location = text(requested['location']) ?? here;
    const id = newJobId(jobs, project, requested, location);
    const job = new LoadJob({ id, project, location, configuration }, this.warehouse, media);
    jobs.add(job);
    return ok(loadResource(job));
  }
}

function incomplete({ bytes }: Session): ApiReply {
  return { status: 308, json: null, headers: bytes === 0 ? {} : { Range: `bytes=0-${bytes - 1}` } };
}
