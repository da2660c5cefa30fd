/** Callers, their addresses and clients. Addresses are from the documentation ranges, names from reserved domains. */
import { pick, pickSql } from './picks';

const AGENTS = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148',
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'node',
  'curl/8.14.1',
  'Dart/3.9 (dart:io)',
  'python-httpx/0.28.1',
] as const;

const CLIENT_LIBRARIES = ['client-js/2.58.0', 'client-js/2.57.4', 'client-flutter/2.10.0', null, null] as const;

const PEOPLE = ['ada', 'grace', 'linus', 'margaret', 'ken', 'radia'] as const;

/** Of every place: country, continent, city, region, region code, time zone, airport, network number, network. */
const PLACES = [
  ['DE', 'EU', 'Frankfurt am Main', 'Hesse', 'HE', 'Europe/Berlin', 'FRA', 64496, 'Example Netz'],
  ['GB', 'EU', 'London', 'England', 'ENG', 'Europe/London', 'LHR', 64497, 'Example Telecom'],
  ['US', 'NA', 'Ashburn', 'Virginia', 'VA', 'America/New_York', 'IAD', 64498, 'Example Cable'],
  ['US', 'NA', 'San Jose', 'California', 'CA', 'America/Los_Angeles', 'SJC', 64499, 'Example Fiber'],
  ['SG', 'AS', 'Singapore', 'Singapore', 'SG', 'Asia/Singapore', 'SIN', 64500, 'Example Broadband'],
  ['BR', 'SA', 'São Paulo', 'São Paulo', 'SP', 'America/Sao_Paulo', 'GRU', 64501, 'Exemplo Telecom'],
] as const;

/** Columns `ip`, `agent`, `library`, `person`, `person_id`. */
export const VISITOR: Readonly<Record<string, string>> = {
  ip: pickSql('ip', [
    `concat('203.0.113.', hash(i, 'ip1') % 254 + 1)`,
    `concat('198.51.100.', hash(i, 'ip2') % 254 + 1)`,
    `concat('192.0.2.', hash(i, 'ip3') % 254 + 1)`,
    `concat('2001:db8::', lower(to_hex(hash(i, 'ip4') % 65535)))`,
  ]),
  agent: pick('agent', AGENTS),
  library: pick('library', CLIENT_LIBRARIES),
  person: pick('person', PEOPLE),
};

/** Column `place`, to be read with `placeField`. */
export const PLACE: Readonly<Record<string, string>> = {
  place: `(hash(i, salt, 'place') % ${PLACES.length})::BIGINT + 1`,
};

/** A person keeps one id. Needs column `person`. */
export const PERSON_ID = `CAST(CAST(md5(person) AS UUID) AS VARCHAR)`;

const PLACE_FIELDS = [
  'country',
  'continent',
  'city',
  'region',
  'regionCode',
  'timezone',
  'colo',
  'asn',
  'network',
] as const;

export function placeField(name: (typeof PLACE_FIELDS)[number]): string {
  const index = PLACE_FIELDS.indexOf(name);
  const items = PLACES.map((place) => {
    const item = place[index]!;
    return typeof item === 'number' ? String(item) : `'${item}'`;
  });
  return `[${items.join(', ')}][place]`;
}

/** The instant as the header `Date` writes it. */
export const HTTP_DATE = `strftime(t, '%a, %d %b %Y %H:%M:%S GMT')`;
/** ISO 8601 with milliseconds, as the services write time into their own records. */
export const ISO_MILLIS = `strftime(t, '%Y-%m-%dT%H:%M:%S.%gZ')`;
