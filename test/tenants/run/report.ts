/** What a run of requests found. */
import type { Answer, Aspect, Outcome } from './answer';
import { errorOf } from './answer';
import type { TenantRequest } from '../requests/request';

export interface Found {
  readonly aspect: Aspect;
  readonly request: TenantRequest;
  readonly answers: readonly [Answer, Answer];
  /** Of the data sets. */
  readonly seed: number;
}

/** Differences kept with their answers; all are counted. */
const MOST_SHOWN = 200;

export class Report {
  sent = 0;
  readonly outcomes = new Map<Outcome, number>();
  readonly refusals = new Map<string, number>();
  /** Why requests met a limit: their answers are not compared. */
  readonly limits = new Map<string, number>();
  /** Answers that blame the service, and the request that got the first of each. */
  readonly failures = new Map<string, string>();
  readonly #aspects = new Map<Aspect, number>();
  readonly #found: Found[] = [];
  differences = 0;

  note(request: TenantRequest, outcome: Outcome, answer: Answer): void {
    this.sent++;
    increment(this.outcomes, outcome);
    if (outcome === 'refused' && request.kind === 'sql') {
      const { reason, message } = errorOf(answer.body);
      increment(this.refusals, `${reason}: ${message.replace(/"[^"]*"|[`'][^`']*[`']|\d+/g, '…')}`);
    }
    if (outcome === 'limit') {
      const { reason, message } = errorOf(answer.body);
      increment(this.limits, `${answer.status} ${reason}: ${message}`);
    }
    if (outcome === 'other') {
      const { reason, message } = errorOf(answer.body);
      const name = `${answer.status} ${reason}: ${message}`;
      if (!this.failures.has(name)) this.failures.set(name, `${request.path} ${JSON.stringify(request.parameters)}`);
    }
  }

  differed(found: Found): void {
    this.differences++;
    increment(this.#aspects, found.aspect);
    if (this.#found.length < MOST_SHOWN) this.#found.push(found);
  }

  /** Part of the consumer queries and others that the service accepted. */
  get accepted(): number {
    const refused = this.outcomes.get('refused') ?? 0;
    return this.sent === 0 ? 0 : (this.sent - refused) / this.sent;
  }

  get found(): readonly Found[] {
    return this.#found;
  }

  /** The counts. */
  lines(): string[] {
    return [
      `${this.sent} requests, ${(this.accepted * 100).toFixed(1)} % accepted, ${this.differences} answered differently`,
      `answers: ${list(this.outcomes)}`,
      `differing in: ${list(this.#aspects) || 'nothing'}`,
      `refused: ${list(this.refusals) || 'none'}`,
      `not compared, as they met a limit: ${list(this.limits) || 'none'}`,
      ...[...this.failures].map(([name, request]) => `failed: ${name}: ${request}`),
    ];
  }
}

export function describeFound({ aspect, request, answers, seed }: Found): string[] {
  const others = Object.entries(request.parameters).filter(([name]) => name !== 'sql' && name !== 'lql');
  const text = request.parameters['sql'] ?? request.parameters['lql'] ?? '';
  return [
    `- ${aspect}: ${request.method} ${request.path} ${others.map(([name, value]) => `${name}=${value}`).join('&')} (data ${seed}; ${[...request.places, ...request.kinds].join(', ')})`,
    `    ${text}`,
    ...answers.map(({ status, body, headers, reason }) => {
      const header = headers.get(aspect);
      return `    ${status} ${reason} ${header === undefined ? '' : `${aspect}: ${header} `}${body.slice(0, 300)}`;
    }),
  ];
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}
