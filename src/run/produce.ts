import type { ConsumerRequest, Endpoint } from '../endpoints';
import type { BoundParameter, EngineQuery, EngineResult, RunLimits } from '../engines/contract';
import type { Made } from '../cache/results';
import { render } from '../rendering/render';
import type { Representation } from '../rendering/representation';
import { type ChosenQuery, chooseQuery, inWordsFor } from './chosen-query';
import type { Rooms } from './request';
import { shownResult } from './shown';

/** What is to be run, when everything about a request has been judged that can be judged without reading its SQL. */
export interface Plan {
  readonly endpoint: Endpoint;
  readonly query: ConsumerRequest['query'];
  /** Validated, pinned ones included. */
  readonly parameters: readonly BoundParameter[];
  readonly redacted: boolean;
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
export async function produce(plan: Plan, rooms: Rooms, bounds: RunLimits, timed: Timed): Promise<Made> {
  const limits = { ...bounds, turn: plan.payer };
  const chosen = await timed('gate', () => chooseQuery(plan.endpoint, plan.query, plan.parameters, rooms, limits));
  const run = (): Promise<EngineResult> =>
    timed('engine', () => rooms.engine.run(engineQuery(plan, chosen, rooms), limits));
  const result = await timed('queue', () => rooms.admission.run(plan.payer, limits, run).catch(inWordsFor(chosen)));
  const { bytesProcessed, bytesBilled } = result;
  const finished = await timed('render', () =>
    render(shownResult(result, plan.redacted), plan.representation, rooms.longestResponse),
  );
  return { finished, bytesProcessed, bytesBilled };
}

export function engineQuery(
  { endpoint, query, redacted, payer, warm }: Plan,
  { sql, parameters }: ChosenQuery,
  { defaults }: Pick<Rooms, 'defaults'>,
): EngineQuery {
  return {
    sql,
    parameters,
    maxRows: endpoint.maxRows,
    hideBytes: redacted,
    maxBytesBilled: endpoint.maxBytesBilled ?? defaults.maxBytesBilled,
    stored: query === null,
    labels: { endpoint: endpoint.name, key: payer, kind: warm ? 'warm' : query === null ? 'run' : 'sandbox' },
  };
}
