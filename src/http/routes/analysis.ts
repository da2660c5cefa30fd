import { analyse } from '../../run/analyse';
import { schemaOf } from '../../run/schema';
import type { Services } from '../../run/services';
import type { Exchange } from '../exchange';
import { jsonResponse } from '../response/response';
import { checkAccept, HEADERS } from './catalogue';
import { HttpRunRequest } from './run';

/** `GET` and `POST /api/endpoints/analyze/:idOrName`: what a run would say, without running anything. */
export async function answerAnalysis(exchange: Exchange, idOrName: string, services: Services): Promise<void> {
  const analysis = await analyse(new HttpRunRequest(exchange, idOrName), services);
  checkAccept(exchange);
  exchange.send(jsonResponse(200, { result: analysis }, HEADERS));
}

/** `GET /api/endpoints/schema/:idOrName`: what the key may query there. */
export async function answerSchema(exchange: Exchange, idOrName: string, services: Services): Promise<void> {
  const schema = await schemaOf(new HttpRunRequest(exchange, idOrName), services);
  checkAccept(exchange);
  exchange.send(jsonResponse(200, { result: schema }, HEADERS));
}
