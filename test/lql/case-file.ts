import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One case of test/cases/lql.json. */
export interface LqlCase {
  readonly id: string;
  readonly lql: string;
  readonly kind: 'ok' | 'error';
  /** null: blank text. */
  readonly rules?: CaseRules | null;
  readonly sql?: string;
  readonly error?: { readonly code: string };
  readonly engineError?: string;
  readonly tables?: readonly string[];
  readonly now?: string;
  readonly expectIds?: readonly string[];
  readonly expectRows?: readonly Readonly<Record<string, unknown>>[];
}

export interface CaseRules {
  readonly from: string | null;
  readonly select: readonly { readonly path: string; readonly wildcard: boolean }[];
  readonly filters: readonly { readonly modifiers: Readonly<Record<string, unknown>> }[];
  readonly chart: object | null;
}

const read = (name: string): string => readFileSync(join(__dirname, '..', 'cases', name), 'utf8');

export const CASES = JSON.parse(read('lql.json')) as readonly LqlCase[];

export interface Fixture {
  readonly clock: string;
  readonly table: string;
  readonly columns: Readonly<Record<string, string>>;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export const FIXTURE = JSON.parse(read('lql-fixture.json')) as Fixture;

/** 2024-03-17T13:47:02.123456Z, a Sunday: the clock of cases that name none. */
export const DEFAULT_NOW = 1_710_683_222_123_456n;

/** The clock of a case in microseconds. */
export function nowOf({ now }: LqlCase): bigint {
  return now === undefined ? DEFAULT_NOW : BigInt(Date.parse(now.replace(/\.(\d{3})\d*Z$/, '.$1Z'))) * 1000n;
}

export function tablesOf({ tables }: LqlCase): readonly string[] {
  return tables ?? ['edge_logs'];
}
