/** Reads queries beside the page, so that a long one holds up nobody's typing. */
import { analyseConsumer, complete } from '@logquay/googlesql/consumer';
import type { Answer, Kind, Question, Questions } from './questions';
import { rowSource } from './row-source';

const WORK: { readonly [K in Kind]: (given: Questions[K]['given']) => Questions[K]['answer'] } = {
  analyse: analyseConsumer,
  complete,
  rows: rowSource,
};

function answerTo<K extends Kind>({ kind, given }: Question<K>): Questions[K]['answer'] {
  return WORK[kind](given);
}

addEventListener('message', ({ data }: MessageEvent<Question>) => {
  let answer: Answer['answer'] = null;
  try {
    answer = answerTo(data);
  } catch {
    // The service has the last word on a query: here nothing is known of it.
  }
  postMessage({ id: data.id, answer } satisfies Answer);
});
