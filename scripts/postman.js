/**
 * Writes docs/logquay.postman_collection.json, a collection for Postman, from the OpenAPI document of a running service:
 * `npm start`, then `node scripts/postman.js http://127.0.0.1:4000`.
 */
const { writeFileSync } = require('node:fs');
const path = require('node:path');
const { convertV2 } = require('openapi-to-postmanv2');

const TARGET = path.join(__dirname, '../docs/logquay.postman_collection.json');
const DEFAULT_BASE = 'http://127.0.0.1:4000';
/** Required parameters have the document's examples; optional ones are there, switched off. */
const OPTIONS = { folderStrategy: 'Tags', parametersResolution: 'Example', enableOptionalParameters: false };

/** Examples of answers are most of a collection, and are in the document. @param {any[]} items */
function dropAnswers(items) {
  for (const item of items) {
    delete item.response;
    if (item.item !== undefined) dropAnswers(item.item);
  }
}

async function write(base = DEFAULT_BASE) {
  const data = await (await fetch(new URL('/openapi.json', base))).text();
  const collection = await new Promise((resolve, reject) => {
    convertV2({ type: 'string', data }, OPTIONS, (/** @type {any} */ error, /** @type {any} */ result) => {
      if (error || !result.result) reject(error ?? new Error(result.reason));
      else resolve(result.output[0].data);
    });
  });
  dropAnswers(collection.item);
  collection.variable = [
    { key: 'baseUrl', value: DEFAULT_BASE },
    { key: 'apiKey', value: '' },
  ];
  writeFileSync(TARGET, `${JSON.stringify(collection, null, 2)}\n`);
}

void write(process.argv[2]);
