import { tail } from '../../run/tail/tail';
import type { Services } from '../../run/services';
import type { EventWriter, TailRequest } from '../../run/tail/types';
import type { Exchange } from '../exchange';
import { HttpRunRequest, VARY } from './run';

/** `GET`, `HEAD` and `POST /api/endpoints/tail/:idOrName`: rows as they arrive, as `text/event-stream`. */
export function answerTail(exchange: Exchange, idOrName: string, services: Services): Promise<void> {
  return tail(new HttpTailRequest(exchange, idOrName), services);
}

class HttpTailRequest extends HttpRunRequest implements TailRequest {
  beginEvents(headers: readonly string[]): EventWriter {
    // Proxies hand events on as they come.
    const own = ['Content-Type', 'text/event-stream', 'Vary', VARY, 'X-Accel-Buffering', 'no'];
    return this.exchange.beginEvents([...headers, ...own]);
  }
}
