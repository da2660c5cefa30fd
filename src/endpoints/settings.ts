import { type Document, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { z } from 'zod';
import { lineAndColumn } from '../errors';
import { PARAMETER_TYPES, UUID } from './endpoint';
import { isLookback } from './values';
import { nearest } from '@logquay/googlesql';
import { segmentsOf, TIME_UNITS } from '@logquay/googlesql/types';

/** What is wrong with one file of the catalogue, and where. */
export interface Fault extends LineFault {
  /** As the reader would open it: the directory as given, then the file's name. */
  readonly file: string;
}

/** `file:line:column: reason`, the form that editors and CI logs make clickable, and what may have been meant. */
export function describeFault({ file, line, column, reason, hint }: Fault): string {
  const end = /[.?!]$/.test(reason) ? '' : '.';
  const more = hint === undefined ? '' : `${end} ${hint}`;
  return `${file}:${String(line)}:${String(column)}: ${reason}${more}`;
}

/** The catalogue cannot be served: every fault of every file, not only the first. */
export class CatalogueError extends Error {
  override readonly name = 'CatalogueError';

  constructor(readonly faults: readonly Fault[]) {
    super(`The catalogue has faults:\n${faults.map(describeFault).join('\n')}`);
  }
}

/** Line and column in a file, from 1. */
export interface Place {
  readonly line: number;
  /** In Unicode code points. */
  readonly column: number;
}

/** A fault within one file. */
export interface LineFault extends Place {
  readonly reason: string;
  /** What may have been meant. */
  readonly hint?: string | undefined;
}

/** Where a fault is that has no place of its own. */
export const FILE_START: Place = { line: 1, column: 1 };

/** Types of any number of values. Several patterns are one: `a|b`. */
const LIST_TYPES = PARAMETER_TYPES.filter((type) => type !== 'regex').map((type) => `${type}[]` as const);

/** What `type` of a declaration may be. */
export const DECLARED_TYPES = [...PARAMETER_TYPES, ...LIST_TYPES];

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Longest duration in seconds: a timer holds 2^31-1 milliseconds and fires at once beyond. */
const LONGEST_SECONDS = 2_147_483n;
const INT64_MAX = 2n ** 63n - 1n;

const text = (what: string) => z.string({ error: required(`${what} must be a text`) });
const flag = (what: string) => z.boolean({ error: `${what} must be true or false` }).nullish();
const whole = (what: string, least: bigint, most: bigint) => {
  const error = `${what} must be a whole number from ${String(least)} to ${String(most)}`;
  return z.bigint({ error }).min(least, { error }).max(most, { error }).nullish();
};
const LOOKBACK = 'default_lookback must be a whole number of hours or days such as 24h or 7d, and at most 36500d';
const bound = (what: string) => z.union([z.bigint(), z.number()], { error: `${what} must be a number` }).nullish();

function required(otherwise: string): z.core.$ZodErrorMap {
  return (issue) => (issue.input === undefined || issue.input === null ? 'is required' : otherwise);
}

/** Keys of a declaration; docs/endpoints.md is held to them. */
export const declarationSchema = z.strictObject(
  {
    type: z.enum(DECLARED_TYPES, { error: required(`type must be one of ${DECLARED_TYPES.join(', ')}`) }),
    required: flag('required'),
    description: text('description').nullish(),
    default: z
      .union([z.string(), z.array(z.string())], { error: 'default must be a text, or a list of texts' })
      .nullish(),
    default_lookback: z.string({ error: LOOKBACK }).refine(isLookback, { error: LOOKBACK }).nullish(),
    values: z.array(text('each value'), { error: 'values must be a list' }).nullish(),
    min: bound('min'),
    max: bound('max'),
  },
  { error: strict('a parameter is declared as a map with at least a type') },
);

/** A path of names with dots between, each in backticks where it holds more than letters, digits, _ and @. */
const path = (what: string) => {
  const error = `${what} must be a column, or the path to a field: names with dots between`;
  return z.string({ error }).refine((written) => segmentsOf(written) !== null, { error });
};
const UNIT = `unit must be one of ${TIME_UNITS.join(', ')}`;
const TIME = 'time must be a column, or for a column of numbers { column: NAME, unit: UNIT }';

/** Keys of `log`; docs/endpoints.md is held to them. */
const logSchema = z.strictObject(
  {
    time: z
      .union(
        [
          path('time'),
          z.strictObject(
            { column: path('column'), unit: z.enum(TIME_UNITS, { error: UNIT }) },
            { error: strict(TIME) },
          ),
        ],
        { error: TIME },
      )
      .nullish(),
    message: path('message').nullish(),
    severity: path('severity').nullish(),
    trace: path('trace').nullish(),
  },
  { error: strict('log must be a map of time, message, severity and trace') },
);

/** Keys of the settings; docs/endpoints.md is held to them. */
export const settingsSchema = z.strictObject(
  {
    id: text('id').regex(UUID, { error: 'id must be a UUID' }),
    name: text('name')
      .regex(NAME, { error: 'name must be of letters, digits and . _ - and begin with a letter or digit' })
      .refine((name) => !UUID.test(name), { error: 'name must not be a UUID: ids are looked up in the same place' }),
    description: text('description').nullish(),
    max_rows: whole('max_rows', 1n, 10_000n),
    export: whole('export (rows)', 1n, 1_000_000_000n),
    tail: whole('tail (seconds)', 1n, 3_600n),
    cache_ttl: whole('cache_ttl (seconds)', 0n, LONGEST_SECONDS),
    cache_warming: whole('cache_warming (seconds)', 0n, LONGEST_SECONDS),
    sandbox: flag('sandbox'),
    mcp: flag('mcp'),
    redact_pii: flag('redact_pii'),
    strict_params: flag('strict_params'),
    max_bytes_billed: whole('max_bytes_billed', 1n, INT64_MAX),
    timeout: whole('timeout (seconds)', 1n, LONGEST_SECONDS),
    log: logSchema.nullish(),
    params: z.record(z.string(), declarationSchema, { error: 'params must be a map of declarations' }).nullish(),
  },
  { error: strict('the settings must be a map') },
);

export type Settings = z.output<typeof settingsSchema>;
export type WrittenDeclaration = z.output<typeof declarationSchema>;

function strict(otherwise: string): z.core.$ZodErrorMap {
  return (issue) => (issue.code === 'unrecognized_keys' ? undefined : otherwise);
}

/** The settings as written, and where each of them stands. */
export interface SettingsBlock {
  /** null: they are not of the shape that `faults` says. With faults: those that are. */
  readonly settings: Settings | null;
  readonly faults: readonly LineFault[];
  /** Place of a setting by its path (`['params', 'project', 'default']`), or of the nearest setting around it. */
  readonly placeOf: (path: readonly PropertyKey[]) => Place;
}

/** `{ type: string[] }`: in braces YAML takes brackets for a list of its own. */
const LIST_IN_BRACES = /\{[^{}\n]*\btype:\s*[a-z]+\[\]/;
const QUOTED_TYPE = 'Between braces the type of a list is quoted: { type: "string[]" }.';

/** How all of YAML is read. */
const PARSING = { intAsBigInt: true, prettyErrors: false, version: '1.2' } as const;

const HEAD = /^\s*\/\*([\s\S]*?)\*\//;

/**
 * Reads the YAML settings in the block comment at the head of a stored query (docs/endpoints.md).
 * All faults of shape are reported together; what a setting means beside another is judged elsewhere.
 */
export function readSettings(sql: string): SettingsBlock {
  const head = HEAD.exec(sql);
  if (head === null) {
    const reason = 'the file must begin with a block comment that holds the settings as YAML';
    return { settings: null, faults: [{ ...FILE_START, reason }], placeOf: () => FILE_START };
  }
  // The blanks after the opening of the comment are no indentation.
  const block = head[1] ?? '';
  const before = head[0].length - block.length - 2;
  // What stands before the YAML is replaced by as many line ends, so that YAML's own positions are lines of the file.
  const lines = lineAndColumn(sql, before).line - 1;
  const yaml = '\n'.repeat(lines) + block.replace(/^[ \t]+/, '');

  const document = parseDocument(yaml, PARSING);
  const placeAt = (offset: number) => lineAndColumn(yaml, offset);
  const syntax = [...document.errors, ...document.warnings];
  if (syntax.length > 0) {
    const hint = LIST_IN_BRACES.test(yaml) ? QUOTED_TYPE : undefined;
    const faults = syntax.map((fault) => ({ ...placeAt(fault.pos[0]), reason: `bad YAML: ${fault.message}`, hint }));
    return { settings: null, faults, placeOf: () => ({ line: lines + 1, column: 1 }) };
  }
  const placeOf = (path: readonly PropertyKey[]) => placeAt(offsetOf(document, path) ?? before);
  keepWrittenScalars(document);
  const written: unknown = document.toJS();
  const read = settingsSchema.safeParse(written);
  if (read.success) return { settings: read.data, faults: [], placeOf };
  const faults = read.error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        ...placeOf([...issue.path, key]),
        reason: `unknown setting ${JSON.stringify(key)}${inside(issue.path)}`,
        hint: meant(key, issue.path),
      }));
    }
    const last = issue.path.at(-1);
    const subject = valueAt(written, issue.path) === undefined ? `${String(last)} ` : '';
    const reason = `${subject}${issue.message}${inside(issue.path)}`;
    const hint = last === 'type' ? meantType(valueAt(written, issue.path)) : undefined;
    return [{ ...placeOf(issue.path), reason, hint }];
  });
  const rest = settingsSchema.safeParse(withoutUnknown(written, read.error.issues));
  return { settings: rest.data ?? null, faults, placeOf };
}

/** What is known of settings among which there are unknown ones. */
function withoutUnknown(written: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  const known = structuredClone(written);
  for (const issue of issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const map = valueAt(known, issue.path);
    for (const key of issue.keys) Reflect.deleteProperty(map as object, key);
  }
  return known;
}

/** The setting that was probably meant, among those of the same map. */
function meant(key: string, path: readonly PropertyKey[]): string | undefined {
  const { shape } = path.length === 0 ? settingsSchema : path[0] === 'log' ? logSchema : declarationSchema;
  const near = nearest(key, Object.keys(shape));
  return near === undefined ? undefined : `Did you mean ${near}?`;
}

function meantType(written: unknown): string | undefined {
  const near = typeof written === 'string' ? nearest(written, DECLARED_TYPES) : undefined;
  return near === undefined ? undefined : `Did you mean ${near}?`;
}

/** What is written at a place that there is. */
function valueAt(written: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((inner: unknown, step) => Reflect.get(inner as object, step), written);
}

function inside(path: readonly PropertyKey[]): string {
  if (path[0] === 'log' && path.length > 0) return ' (log)';
  return path[0] === 'params' && path.length > 1 ? ` (parameter ${JSON.stringify(path[1])})` : '';
}

/** Settings of a parameter whose scalars are texts. */
const WRITTEN = ['default', 'values'];

/**
 * Values of parameters are texts whatever YAML takes them for: `default: 007`, `values: [1, 1.50]` mean what is written,
 * as it would stand in a URL.
 */
function keepWrittenScalars(document: Document): void {
  const declarations = document.get('params');
  if (!isMap(declarations)) return;
  for (const { value: declaration } of declarations.items) {
    if (!isMap(declaration)) continue;
    const scalars = WRITTEN.flatMap((name) => {
      const written = declaration.get(name, true);
      return isSeq(written) ? written.items : [written];
    });
    for (const scalar of scalars) {
      if (!isScalar(scalar) || scalar.value === null || typeof scalar.value === 'string') continue;
      if (scalar.source !== undefined) scalar.value = scalar.source;
    }
  }
}

/** Where the key of a setting begins, or the key of the setting that should have held it. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | null {
  let node: unknown = document.contents;
  let offset: number | null = isMap(node) ? (node.range?.[0] ?? null) : null;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) break;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      if (isScalar(node)) offset = node.range?.[0] ?? offset;
    } else break;
  }
  return offset;
}
