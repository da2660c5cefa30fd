import type { ConsumerRequest, Endpoint } from '../endpoints';
import type { BoundParameter, EngineQuery, EngineResult, RunLimits } from '../engines/contract';
import type { RunResult } from '../cache/results';
import type { Representation } from '../rendering/representation';
import { type ChosenQuery, chooseQuery, inWordsFor } from './chosen-query';
import { fenceOf, inPlainOrder } from './fence';
import type { Services } from './request';
import { renderShown } from './shown';

/** What is to be run, when everything about a request has been judged that can be judged without reading its SQL. */
export interface Plan {
  readonly endpoint: Endpoint;
  readonly query: ConsumerRequest['query'];
  /** Validated, pinned ones included. */
  readonly parameters: readonly BoundParameter[];
  readonly redacted: boolean;
  /** Whether there are rows that the caller must learn nothing of: see `needsFence`. */
  readonly fenced: boolean;
  readonly representation: Representation;
  /** Whose turn it takes, and who pays. */
  readonly payer: string;
  /** Whether nobody asks for the answer now. */
  readonly warm: boolean;
}

/** Does one step and counts its time, without that of steps within it. */
export type Timed = <T>(phase: string, step: () => Promise<T> | T) => Promise<T>;

/**
 * Makes the answer: the consumer's query through the gate, a turn on the engine, and what may be seen of its rows as
 * finished bytes.
 *
 * @throws ServiceError for the caller: 400 and 403 by the gate, 429 and 504 while waiting for a turn, the engine's own
 */
export async function produce(plan: Plan, services: Services, bounds: RunLimits, timed: Timed): Promise<RunResult> {
  const limits = { ...bounds, keyName: plan.payer };
  const { endpoint, query: sent, parameters, fenced } = plan;
  const chosen = await timed('gate', () => chooseQuery(endpoint, sent, parameters, services, limits, fenced));
  const run = (): Promise<EngineResult> =>
    timed('engine', () => services.engine.run(engineQuery(plan, chosen, services), limits));
  const result = await timed('queue', () => services.admission.run(plan.payer, limits, run).catch(inWordsFor(chosen)));
  const { bytesProcessed, bytesBilled } = result;
  const rows = plan.fenced && !chosen.ordered ? inPlainOrder(result.rows) : result.rows;
  const response = await timed('render', () => renderShown({ ...result, rows }, plan, services, limits));
  return { response, bytesProcessed, bytesBilled };
}

export function engineQuery(
  { endpoint, query, redacted, fenced, payer, warm }: Plan,
  { sql, parameters, consumer }: ChosenQuery,
  { defaults }: Pick<Services, 'defaults'>,
): EngineQuery {
  return {
    sql,
    parameters,
    maxRows: endpoint.maxRows,
    hideBytes: redacted,
    maxBytesBilled: endpoint.maxBytesBilled ?? defaults.maxBytesBilled,
    stored: query === null,
    fence: fenced ? fenceOf(endpoint, consumer) : null,
    labels: { endpoint: endpoint.name, key: payer, kind: warm ? 'warm' : query === null ? 'run' : 'sandbox' },
  };
}
