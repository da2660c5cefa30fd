/** Requests of pinned keys to two services whose data differs only in what those keys may not see. */
import { Random } from '../../sandbox/fuzz/random';
import type { DataSize } from '../data/data-sets';
import { generateRequest, generateTail } from '../requests/generate';
import type { TenantRequest } from '../requests/request';
import { answersOf, difference, outcomeOf, type Answer } from './answer';
import { Report, type Found } from './report';
import { openDataSets, startServices, type DataOptions, type DataSets, type Services } from './services';
import { shrink } from './shrink';
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
  /** Whether the order of rows counts where no query fixes it. */
  readonly exact?: boolean;
  readonly emulator?: readonly string[];
  /** Differing queries that are made as short as they go. */
  readonly shrunk?: number;
  readonly size?: DataSize;
  /** Rows on top in the long tables; by default what `size` says. */
  readonly longRows?: number;
  /** DuckDB's. */
  readonly threads?: number;
  /** Differences after which the run ends. */
  readonly enough?: number;
  /** Called with each difference as soon as it is found. */
  readonly found?: (found: Found) => void;
  /** Hears now and then how many requests are done. */
  readonly progress?: (done: number, report: Report) => void;
}

const SIZES: Readonly<Record<DataOptions['engine'], DataSize>> = {
  duckdb: {
    own: 200,
    foreign: 1600,
    grows: true,
    long: { tables: 6, rows: 65_000 },
    busy: { tables: 3, rows: 2300 },
  },
  bigquery: { own: 25, foreign: 120, grows: false, long: { tables: 0, rows: 0 }, busy: { tables: 0, rows: 0 } },
};

/** Requests over one pair of data sets; the next are sent to new services over new data. */
const PER_DATA_SET: Readonly<Record<DataOptions['engine'], number>> = { duckdb: 2500, bigquery: 700 };
/** Live tails over one pair of data sets that grow. */
const TAILS = 40;
const IN_FLIGHT = 4;
const ATTEMPTS = 400;

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
        if (report.sent % 500 === 0) options.progress?.(report.sent, report);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, work));
  };
  for (let round = 0; report.sent < options.requests && more(); round++) {
    const { withoutFence = false, threads = 1 } = options;
    const seed = options.seed + round;
    const given = (round === 0 ? options.dataSets : null) ?? null;
    const dataSets = given ?? (await openDataSets(dataOptionsOf({ ...options, seed })));
    try {
      const services = await startServices(dataSets, { withoutFence, threads });
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

/** The data sets of a run, by its options. */
function dataOptionsOf({ engine, seed, emulator = [], size = SIZES[engine], ...options }: Options): DataOptions {
  const { longRows = size.long.rows } = options;
  return { engine, seed, emulator, size: { ...size, long: { ...size.long, rows: longRows } } };
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
    if (pair !== undefined) await note(request, [pair], () => Promise.resolve(null), options, report);
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
  const { exact = false, shrunk = 0 } = options;
  const [a, b] = await Promise.all([answersOf(request, services, 0), answersOf(request, services, 1)]);
  const pairs = a.flatMap((ours, i) => {
    const theirs = b[i];
    return theirs === undefined ? [] : [[ours, theirs] as const];
  });
  const shorten = (aspect: string): Promise<string | null> =>
    report.differences < shrunk ? shortened(request, aspect, services, exact) : Promise.resolve(null);
  await note(request, pairs, shorten, options, report);
}

/** Counts a request, and its first answers that differ. */
async function note(
  request: TenantRequest,
  answers: readonly (readonly [Answer, Answer])[],
  shorten: (aspect: string) => Promise<string | null>,
  { exact = false, seed, found: each = () => undefined }: Options,
  report: Report,
): Promise<void> {
  const [[first] = []] = answers;
  if (first !== undefined) report.note(request, outcomeOf(first), first);
  for (const pair of answers) {
    const aspect = difference(request, ...pair, exact);
    if (aspect === null) continue;
    const found: Found = { aspect, request, answers: pair, shortest: await shorten(aspect), seed };
    report.differed(found);
    each(found);
    return;
  }
}

/** The consumer query of a request, cut down to what still makes the same difference. */
async function shortened(
  request: TenantRequest,
  aspect: string,
  services: Services,
  exact: boolean,
): Promise<string | null> {
  const { sql } = request.parameters;
  if (sql === undefined) return null;
  const differs = async (text: string): Promise<boolean> => {
    const shorter: TenantRequest = { ...request, again: 'no', parameters: { ...request.parameters, sql: text } };
    const [[a], [b]] = await Promise.all([answersOf(shorter, services, 0), answersOf(shorter, services, 1)]);
    return a !== undefined && b !== undefined && difference(shorter, a, b, exact) === aspect;
  };
  return shrink(sql, differs, ATTEMPTS);
}
