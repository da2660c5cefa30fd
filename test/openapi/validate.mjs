/**
 * Validates OpenAPI documents, each a line of JSON on the standard input: `{"document": …, "instances": [{"at": pointer of a
 * schema, "value": …}]}`. Answers each with a line, a list of what is wrong: the document by the official schema of
 * OpenAPI 3.1, every schema by JSON Schema's own, every example and every default by the schema beside it, every
 * instance by the schema that it names, every reference by what it names. A process of its own, since the validator is an
 * ES module and Jest runs CommonJS.
 */
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

import { Validator } from '@seriousme/openapi-schema-validator';

// The validator's own Ajv: JSON Schema 2020-12, which is OpenAPI 3.1's.
const load = createRequire(createRequire(import.meta.url).resolve('@seriousme/openapi-schema-validator'));
const Ajv = load('ajv/dist/2020').default;
const formats = load('ajv-formats').default;

const validator = new Validator();

/** Of schemas, by their texts: many places hold the same one. What a reference means is the document's own. */
const COMPILED = new Map();

/** @typedef {Record<string, unknown>} Node */

for await (const line of createInterface({ input: process.stdin })) {
  const { document, instances = [] } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(await validate(document, instances))}\n`);
}

/** @param {Node} document @param {{ at: string, value: unknown }[]} instances */
async function validate(document, instances) {
  /** @type {[string, unknown][]} */
  const faults = [];
  const { valid, errors } = await validator.validate(structuredClone(document));
  if (!valid) faults.push(['document', errors]);

  const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  formats(ajv);
  // Said by OpenAPI, not by JSON Schema: they annotate.
  for (const name of ['int64', 'double']) ajv.addFormat(name, true);
  // Schemas refer to each other within the document.
  ajv.addVocabulary(Object.keys(document));
  ajv.addSchema({ ...document, $id: 'doc:openapi' });
  const referring = new Map();
  /** @param {string} at */
  const compile = (at) => {
    const text = JSON.stringify(find(document, at));
    const compiled = text.includes('"$ref"') ? referring : COMPILED;
    try {
      if (!compiled.has(text)) compiled.set(text, ajv.compile({ $ref: `doc:openapi#${at}` }));
      return compiled.get(text);
    } catch (error) {
      faults.push([at, String(error)]);
      return () => true;
    }
  };
  /** @param {string} at @param {unknown} value @param {string} where */
  const check = (at, value, where) => {
    const validate = compile(at);
    if (!validate(value)) faults.push([where, validate.errors]);
  };

  walk(document, '', (node, at) => {
    if (typeof node.$ref === 'string' && !node.$ref.startsWith('#/')) faults.push([at, 'a reference that leaves']);
    if (typeof node.$ref === 'string' && find(document, node.$ref.slice(1)) === undefined) faults.push([at, node.$ref]);
    if (!isObject(node.schema)) return;
    const schema = `${at}/schema`;
    compile(schema);
    if ('example' in node) check(schema, node.example, `${at}/example`);
    for (const [name, given] of Object.entries(node.examples ?? {})) {
      const { $ref, value } = /** @type {{ $ref?: string, value?: unknown }} */ (given);
      const shown = $ref === undefined ? value : /** @type {Node} */ (find(document, $ref.slice(1))).value;
      check(schema, shown, `${at}/examples/${name}`);
    }
  });
  walk(document, '', (node, at) => {
    if (!/\/(schema|items|anyOf\/\d+|properties\/[^/]+|schemas\/[^/]+)$/.test(at)) return;
    if ('default' in node) check(at, node.default, `${at}/default`);
    for (const [i, example] of (Array.isArray(node.examples) ? node.examples : []).entries()) {
      check(at, example, `${at}/examples/${i}`);
    }
  });
  for (const [i, { at, value }] of instances.entries()) check(at, value, `instance ${i}`);
  return faults;
}

/** @param {unknown} node @param {string} at @param {(node: Node, at: string) => void} visit */
function walk(node, at, visit) {
  if (Array.isArray(node)) node.forEach((inner, i) => walk(inner, `${at}/${i}`, visit));
  else if (isObject(node)) {
    visit(node, at);
    for (const [name, inner] of Object.entries(node)) {
      // What an example holds is no part of the document.
      if (['example', 'value', 'default', 'const'].includes(name)) continue;
      walk(inner, `${at}/${pointer(name)}`, visit);
    }
  }
}

/** @param {Node} document @param {string} at @returns {unknown} */
function find(document, at) {
  /** @type {unknown} */
  let node = document;
  for (const name of at.split('/').slice(1)) {
    if (!isObject(node) && !Array.isArray(node)) return undefined;
    node = /** @type {Node} */ (node)[decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return node;
}

/** A name as a part of a JSON pointer in a URL's fragment. @param {string} name */
function pointer(name) {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/** @param {unknown} node @returns {node is Node} */
function isObject(node) {
  return typeof node === 'object' && node !== null && !Array.isArray(node);
}
