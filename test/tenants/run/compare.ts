/** Requests of pinned keys to two services whose data differs only in what those keys may not see. */
import { Random } from '../../sandbox/fuzz/random';
import type { DataSize } from '../data/data-sets';
import { generateRequest, generateTail } from '../requests/generate';
import type { TenantRequest } from '../requests/request';
import { answersOf, difference, outcomeOf, type Answer } from './answer';
import { Report } from './report';
import { openDataSets, startServices, type DataOptions, type DataSets, type Services } from './services';
import { answersOfTails, openTails } from './tails';

export interface Options {
  readonly engine: DataOptions['engine'];
  readonly requests: number;
  readonly seed: number;
  /** Of the requests; by default that of the data sets. */
  readonly requestSeed?: number;
  /** The first data sets, which stay open; null: new ones of `seed`. */
  readonly dataSets?: DataSets | null;
  readonly withoutFence?: boolean;
  readonly emulator?: readonly string[];
  readonly size: DataSize;
  /** Differences after which the run ends. */
  readonly enough?: number;
}

/** Requests over one pair of data sets; the next are sent to new services over new data. */
const PER_DATA_SET: Readonly<Record<DataOptions['engine'], number>> = { duckdb: 2500, bigquery: 700 };
/** Live tails over one pair of data sets that grow. */
const TAILS = 40;
const IN_FLIGHT = 4;

export async function compare(options: Options): Promise<Report> {
  const report = new Report();
  const random = new Random(options.requestSeed ?? options.seed);
  const { enough = Infinity } = options;
  const more = (): boolean => report.differences < enough;
  const compareOver = async (services: Services, grows: boolean, seed: number): Promise<void> => {
    const end = Math.min(options.requests, report.sent + PER_DATA_SET[options.engine]);
    if (grows) await checkTails(new Random(seed), services, { ...options, seed }, report);
    let next = report.sent;
    const inFlight = new Map<string, Promise<void>>();
    const work = async (): Promise<void> => {
      while (next < end && more()) {
        next++;
        await checkOne(generateRequest(random), services, { ...options, seed }, report, inFlight);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  };
  for (let round = 0; report.sent < options.requests && more(); round++) {
    const seed = options.seed + round;
    const given = (round === 0 ? options.dataSets : null) ?? null;
    const dataSets = given ?? (await openDataSets({ emulator: [], ...options, seed }));
    try {
      const services = await startServices(dataSets, options.withoutFence === true);
      try {
        await compareOver(services, dataSets.grows, seed);
      } finally {
        await services.close();
      }
    } finally {
      if (given === null) await dataSets.close();
    }
  }
  return report;
}

/** Live tails through the growth of the data sets. */
async function checkTails(random: Random, services: Services, options: Options, report: Report): Promise<void> {
  const tails = await openTails(
    Array.from({ length: TAILS }, () => generateTail(random)),
    services,
  );
  await services.grow();
  const answers = await answersOfTails(tails);
  for (const [i, { request }] of tails.entries()) {
    const pair = answers[i];
    if (pair !== undefined) note(request, [pair], options, report);
  }
}

/** Sends a request to both services, not while the same one is on its way: who shares whose run then is time alone. */
async function checkOne(
  request: TenantRequest,
  services: Services,
  options: Options,
  report: Report,
  inFlight: Map<string, Promise<void>>,
): Promise<void> {
  const name = `${request.path}?${new URLSearchParams(request.parameters).toString()}`;
  const before = inFlight.get(name);
  const check = (before ?? Promise.resolve()).then(() => checkAlone(request, services, options, report));
  inFlight.set(
    name,
    check.catch(() => undefined),
  );
  await check;
}

async function checkAlone(request: TenantRequest, services: Services, options: Options, report: Report): Promise<void> {
  const [a, b] = await Promise.all([answersOf(request, services, 0), answersOf(request, services, 1)]);
  const pairs = a.flatMap((ours, i) => {
    const theirs = b[i];
    return theirs === undefined ? [] : [[ours, theirs] as const];
  });
  note(request, pairs, options, report);
}

/** Counts a request, and its first answers that differ. */
function note(
  request: TenantRequest,
  answers: readonly (readonly [Answer, Answer])[],
  { seed }: Options,
  report: Report,
): void {
  const [[first] = []] = answers;
  if (first !== undefined) report.note(request, outcomeOf(first), first);
  for (const pair of answers) {
    const aspect = difference(request, ...pair);
    if (aspect === null) continue;
    report.differed({ aspect, request, answers: pair, seed });
    return;
  }
}
