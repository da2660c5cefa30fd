/** The worker that reads queries, from the page's side. */
import type { Answer, Kind, Question, Questions } from './questions';

/** Milliseconds after which a reading is cancelled and a new worker started. */
const PATIENCE = 5_000;

let worker: Worker | null = null;
let nextId = 1;
/** undefined: the worker was ended before it answered. */
const waiting = new Map<number, (answer: Answer['answer'] | undefined) => void>();

/** Reads a text in the worker. @returns null: it cannot be read, or takes too long */
export async function read<K extends Kind>(
  kind: K,
  given: Questions[K]['given'],
): Promise<Questions[K]['answer'] | null> {
  // Twice: a worker is also ended by another text beside this one, and where the machine slept.
  const first = await readOnce(kind, given);
  return first === undefined ? ((await readOnce(kind, given)) ?? null) : first;
}

async function readOnce<K extends Kind>(
  kind: K,
  given: Questions[K]['given'],
): Promise<Questions[K]['answer'] | null | undefined> {
  const target = (worker ??= start());
  const id = nextId++;
  const answer = new Promise<Answer['answer'] | undefined>((resolve) => waiting.set(id, resolve));
  const patience = setTimeout(restart, PATIENCE);
  target.postMessage({ id, kind, given } satisfies Question<K>);
  try {
    return await answer;
  } finally {
    clearTimeout(patience);
  }
}

function start(): Worker {
  const url = document.getElementById('explorer')?.dataset.analyser ?? '';
  const started = new Worker(trusted(url) as string, { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    waiting.get(data.id)?.(data.answer);
    waiting.delete(data.id);
  });
  started.addEventListener('error', restart);
  return started;
}

function restart(): void {
  worker?.terminate();
  worker = null;
  for (const resolve of waiting.values()) resolve(undefined);
  waiting.clear();
}

interface Policy {
  createScriptURL(url: string): unknown;
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): Policy;
}

/** Browsers let a page have one policy of a name, however many workers it starts. */
let policy: Policy | null = null;

/** The policy of the page lets scripts be loaded by the name of this build's file alone. */
function trusted(url: string): unknown {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  if (types === undefined) return url;
  policy ??= types.createPolicy('analyser', {
    createScriptURL: (given) => {
      if (!/^explore\/worker-[A-Z0-9]+\.js$/.test(given)) throw new TypeError('This is not the analyser.');
      return given;
    },
  });
  return policy.createScriptURL(url);
}
