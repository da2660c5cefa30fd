import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import path from 'node:path';

import type { Document } from '../../src/openapi/schema';

export interface Case {
  readonly document: Document;
  /** Values, and where in the document the schema is that they must fit. */
  readonly instances?: readonly { readonly at: string; readonly value: unknown }[];
}

/** What validate.mjs finds wrong with each, in order; nothing where all is well. */
export async function validated(cases: readonly Case[]): Promise<unknown[][]> {
  const child = spawn(process.execPath, [path.join(__dirname, 'validate.mjs')], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(cases.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const lines = (await text(child.stdout)).trim().split('\n');
  if (lines.length !== cases.length) throw new Error('The judge has not answered all.');
  return lines.map((line) => JSON.parse(line) as unknown[]);
}
