import { createHash } from 'node:crypto';

import { docsPage, markup, PAGE_POLICY } from '../../src/http/routes/docs/page';
import { describeEndpoints } from '../../src/openapi/described';
import { ALL, ON_BIGQUERY } from '../openapi/endpoints';

const PAGE = docsPage(describeEndpoints(ALL, ON_BIGQUERY), 'open', false);

it('escapes everything that comes from the catalogue', () => {
  expect(PAGE).not.toMatch(/<b>|<img|<i>|alert\(1\)<\/script|<script>alert/);
  expect(PAGE).toContain('&#60;img src=x onerror=alert(1)&#62;');
  expect(PAGE).not.toContain('<script');
  expect(PAGE.match(/<style/g)).toHaveLength(1);
  expect(PAGE).not.toMatch(/ on\w+=(?!alert)|javascript:| style=/);
});

it.each(["a'b", 'a"b', 'a`b', '<a>', '&amp;', '</script>', '<!--'])('escapes %j wherever it stands', (text) => {
  const { text: html } = markup`<p title="${text}">${text}</p>`;
  const inner = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(html);
  const back = (escaped = ''): string =>
    escaped.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
  expect([back(inner?.[1]), back(inner?.[2])]).toEqual([text, text]);
});

it('has a policy that names the bytes of its one style', () => {
  const hash = (text = ''): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const style = /<style>([^]*?)<\/style>/.exec(PAGE)?.[1];
  const policy = Object.fromEntries(PAGE_POLICY.split(';').map((one) => [one.split(' ')[0], one.split(' ').slice(1)]));
  expect(policy).toEqual({
    'default-src': ["'none'"],
    'style-src': [hash(style)],
    'img-src': ['data:'],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  });
});

it('names every endpoint, its parameters and its tables, and never its SQL', () => {
  for (const { name, id, parameters, description } of ALL) {
    expect(PAGE).toContain(`id="endpoint:${name}"`);
    expect(PAGE).toContain(`<code>${id}</code>`);
    expect(PAGE).toContain(`/api/endpoints/query/${name}`);
    if (!description.includes('<')) expect(PAGE).toContain(description.replaceAll("'", '&#39;'));
    for (const { name: parameter } of parameters) expect(PAGE).toContain(`<code>${parameter}</code>`);
  }
  expect(PAGE).toContain('<code>postgrest_logs</code>');
  expect(PAGE).not.toMatch(/raw_|hidden|UNNEST|WHERE/);
});
