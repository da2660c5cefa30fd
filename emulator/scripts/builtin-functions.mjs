/**
 * Prints where packages/googlesql/src/functions/function-table.ts differs from what Google's own engine answers to GetBuiltinFunctions.
 * Run by hand when the engine's package is updated: `node emulator/scripts/builtin-functions.mjs`. What BigQuery has and the engine of 2023
 * lacks, or says otherwise, is printed too.
 *
 * A signature is one text, `STRING, INT64, INT64? -> STRING`:
 * `?` optional, `*` repeated, `T1` `T2` templates, `PART` a date part, `MODE` a normalisation mode, `ANY` anything,
 * `name=TYPE` an argument that may be named and `name:=TYPE` one that must be.
 */
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);
const grpc = require('@grpc/grpc-js');
const protoLoader = require('@grpc/proto-loader');
// The local BigQuery's own options, from its TypeScript.
require('tsx/cjs/api').register();
const { MAXIMUM, bigQueryDialect } = require('../src/googlesql/language.ts');
const { FUNCTIONS } = require('../../packages/googlesql/src/functions/function-table.ts');

const ENGINE = join(dirname(require.resolve('@fivetrandevelopers/zetasql/package.json')), 'lib', 'zetasql');

/** In the engine but not in BigQuery. */
const NOT_IN_BIGQUERY = new RegExp(
  '^(' +
    [
      'd3a_count\\..*',
      'array_(avg|sum|min|max|filter|transform|first_n|last_n|remove_.*|includes.*|is_distinct|find.*|zip|offset.*)',
      'timestamp_from_unix_.*',
      '.*proto_map.*|filter_fields|modify_map|contains_key|flatten',
      'iferror|iserror|nulliferror|typeof',
      '\\$(subscript_with_.*|make_array|interval|in_array|is_not_distinct_from|case_.*|extract.*|.*array_at_.*|count_star)',
      '\\$(between|in|is_null|is_true|is_false|is_distinct_from|subscript|not|and|or|like)',
    ].join('|') +
    ')$',
);

/** The tree's name of an operator where it is not the engine's. */
const OPERATORS = {
  $unary_minus: '$negate',
  $bitwise_and: '$bit_and',
  $bitwise_or: '$bit_or',
  $bitwise_xor: '$bit_xor',
  $bitwise_not: '$bit_not',
  $bitwise_left_shift: '$shift_left',
  $bitwise_right_shift: '$shift_right',
  $concat_op: '$concat',
};

const signature = (s) =>
  `${(s.argument ?? []).map(argument).join(', ')} -> ${argument({ ...s.return_type, options: { cardinality: 'REQUIRED' } })}`.trim();

function argument({ kind, type, options }) {
  const name = options.argument_name;
  const label =
    name && options.named_argument_kind !== 'POSITIONAL_ONLY'
      ? `${name}${options.named_argument_kind === 'NAMED_ONLY' ? ':=' : '='}`
      : '';
  return `${label}${type ? typeText(type) : templateText(kind)}${{ OPTIONAL: '?', REPEATED: '*' }[options.cardinality] ?? ''}`;
}

/** Whether the service has types for all of it: it knows no RANGE, and no functions as arguments. */
function isExpressible(s) {
  return [...(s.argument ?? []), s.return_type].every(({ kind, type }) =>
    type
      ? !/RANGE|PROTO|GRAPH|MAP|TOKENLIST|UUID/.test(JSON.stringify(type))
      : /^ARG_(TYPE_ARBITRARY|(ARRAY_)?TYPE_ANY_\d)$/.test(kind),
  );
}

function templateText(kind) {
  if (kind === 'ARG_TYPE_ARBITRARY') return 'ANY';
  const template = /^ARG_(ARRAY_)?TYPE_ANY_(\d)$/.exec(kind);
  if (!template) throw new Error(`unknown argument kind ${kind}`);
  return template[1] ? `ARRAY<T${template[2]}>` : `T${template[2]}`;
}

function typeText(type) {
  switch (type.type_kind) {
    case 'TYPE_ARRAY':
      return `ARRAY<${typeText(type.array_type.element_type)}>`;
    case 'TYPE_ENUM':
      return { DateTimestampPart: 'PART', NormalizeMode: 'MODE', RoundingMode: 'ROUNDING' }[
        type.enum_type.enum_name.replace(/.*\./, '')
      ];
    case 'TYPE_DOUBLE':
      return 'FLOAT64';
    default:
      return type.type_kind.replace('TYPE_', '');
  }
}

function describe(fn) {
  const { options } = fn;
  const name = fn.name_path.join('.');
  const entry = {
    mode: fn.mode.toLowerCase(),
    signatures: fn.signature.filter(isExpressible).map(signature).join('; '),
  };
  if (options.alias_name) entry.alias = options.alias_name.toUpperCase();
  return [OPERATORS[name] ?? (name.startsWith('$') ? name : name.toUpperCase()), entry];
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function builtinFunctions() {
  const port = await freePort();
  const binary = `remote_server${process.arch === 'arm64' ? '_arm' : ''}${process.platform === 'darwin' ? '' : '.so'}`;
  const engine = spawn(join(ENGINE, binary), ['localhost', String(port)], { stdio: 'ignore' });
  try {
    const definition = protoLoader.loadSync('local_service.proto', {
      includeDirs: [join(ENGINE, 'protos')],
      keepCase: true,
      longs: String,
      enums: String,
      defaults: false,
      oneofs: true,
    });
    const { ZetaSqlLocalService } = grpc.loadPackageDefinition(definition).zetasql.local_service;
    const client = new ZetaSqlLocalService(`localhost:${port}`, grpc.credentials.createInsecure(), {
      'grpc.max_receive_message_length': 1 << 28,
    });
    await new Promise((resolve, reject) =>
      client.waitForReady(Date.now() + 30_000, (error) => (error ? reject(error) : resolve())),
    );
    const call = (method, request) =>
      new Promise((resolve, reject) =>
        client[method](request, (error, response) => (error ? reject(error) : resolve(response))),
      );
    const language = bigQueryDialect(await call('GetLanguageOptions', MAXIMUM));
    const { function: functions } = await call('GetBuiltinFunctions', { language_options: language });
    client.close();
    return functions;
  } finally {
    engine.kill();
  }
}

const functions = (await builtinFunctions())
  .filter((fn) => !NOT_IN_BIGQUERY.test(fn.name_path.join('.')) && fn.signature?.some(isExpressible))
  .map(describe)
  .sort(([a], [b]) => (a < b ? -1 : 1));
for (const [name, entry] of functions) {
  const row = FUNCTIONS[name] ?? {};
  for (const [fact, value] of Object.entries(entry))
    if (row[fact] !== value) process.stdout.write(`${name} ${fact}\n  engine: ${value}\n  table:  ${row[fact]}\n`);
}
