import request from 'supertest';

import { explorerPolicy } from '../../src/http/explorer';
import { PAGE_POLICY } from '../../src/http/routes/docs/page';
import { serve, type Served } from './served';

let served: Served;
afterEach(() => served.close());

const PATHS = ['/health', '/docs', '/openapi.json', '/api/endpoints', '/nowhere'];

it('over plain HTTP no answer asks for TLS', async () => {
  served = await serve();
  for (const path of PATHS) {
    const { headers } = await request(served.server).get(path).set('X-API-KEY', 'all');
    expect(headers['strict-transport-security']).toBeUndefined();
    expect(headers['content-security-policy']).toBe(path === '/docs' ? PAGE_POLICY : undefined);
    expect(headers['x-content-type-options']).toBe('nosniff');
  }
  expect(PAGE_POLICY + explorerPolicy()).not.toContain('upgrade-insecure-requests');
});

it('behind TLS every answer does', async () => {
  served = await serve({ tls: true });
  for (const path of PATHS) {
    const { headers } = await request(served.server).get(path).set('X-API-KEY', 'all');
    expect(headers['strict-transport-security']).toBe('max-age=31536000; includeSubDomains');
    const policy = path === '/docs' ? `${PAGE_POLICY};upgrade-insecure-requests` : undefined;
    expect(headers['content-security-policy']).toBe(policy);
  }
});

it('a path that is not there leads to those that are', async () => {
  served = await serve();
  const { body } = await request(served.server).get('/nowhere').expect(404);
  expect(body.error.errors[0]).toMatchObject({ reason: 'notFound', hint: 'Every path is described at /docs.' });
});
