import path from 'node:path';

import { SOFT_RESERVED } from './declaration';
import type { Definition } from './definition';
import type { Endpoint } from './endpoint';
import { describeFault, type Fault, FILE_START, type LineFault } from './settings';
import { faultsOf, type ResolveStored } from './catalogue';
import { readCatalogue } from './directory';

export interface CheckOptions {
  /** null: only what needs no tables is checked. */
  readonly resolve: ResolveStored | null;
  /** What is printed behind the OK of an endpoint, such as its cost; '': nothing. */
  readonly about?: (endpoint: Endpoint) => Promise<string>;
}

/** Characters of a line that are shown on either side of a fault. */
const CONTEXT = 60;

/**
 * `logquay check`: prints OK or every fault for each file of the catalogue in `directory`, with the line at fault. Returns the
 * exit code: 0 without faults; 1 with any, with no file at all, or where the engine does not answer.
 */
export async function check(
  directory: string,
  print: (line: string) => void,
  { resolve, about = () => Promise.resolve('') }: CheckOptions = { resolve: null },
): Promise<number> {
  const { files, faults: read } = await readCatalogue(directory);
  const faults: Fault[] = [...read];
  for (const { name, definition } of files) {
    const file = path.join(directory, name);
    for (const fault of await meaningFaults(file, definition, resolve)) {
      const isKnown = ({ line, column }: LineFault): boolean => line === fault.line && column === fault.column;
      if (!definition.faults.some(isKnown)) faults.push(fault);
    }
    if (faults.some((fault) => fault.file === file)) continue;
    const more = definition.endpoint === null ? '' : await about(definition.endpoint);
    print(`${file}: OK${more === '' ? '' : ` (${more})`}`);
  }
  for (const { name, definition } of files) {
    for (const parameter of definition.draft?.parameters ?? []) {
      if (!SOFT_RESERVED.some((reserved) => reserved === parameter.name)) continue;
      const lost = `the parameter ${parameter.name} switches off the feature of this name for the endpoint`;
      print(`${path.join(directory, name)}: warning: ${lost}`);
    }
  }
  for (const { name, definition } of files) {
    for (const warning of definition.warnings) print(`${path.join(directory, name)}: warning: ${warning}`);
  }
  const texts = new Map(files.map(({ name, text }) => [path.join(directory, name), text]));
  for (const fault of inOrder(faults)) {
    print(describeFault(fault));
    const line = lineOf(texts.get(fault.file), fault);
    if (line !== null) for (const shown of line) print(shown);
  }
  if (files.length === 0 && faults.length === 0) print(`${directory}: no .sql files`);
  return faults.length > 0 || files.length === 0 ? 1 : 0;
}

async function meaningFaults(
  file: string,
  { draft, placeOf }: Definition,
  resolve: ResolveStored | null,
): Promise<readonly Fault[]> {
  if (draft === null || resolve === null) return [];
  const resolution = await resolve(draft);
  if (resolution.kind === 'resolved') {
    return (resolution.unfit ?? []).map(({ role, reason }) => ({ file, ...placeOf(['log', role]), reason }));
  }
  const faults = faultsOf(file, resolution);
  return typeof faults === 'string' ? [{ file, ...FILE_START, reason: `could not be resolved: ${faults}` }] : faults;
}

function inOrder(faults: readonly Fault[]): readonly Fault[] {
  const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
  return [...faults].sort((a, b) => byText(a.file, b.file) || a.line - b.line || a.column - b.column);
}

/** The line at fault and a caret below it; null where there is nothing to show. */
function lineOf(text: string | undefined, { line, column }: Fault): readonly [string, string] | null {
  const written = Array.from(text?.split(/\r\n|\r|\n/)[line - 1] ?? '');
  if (written.length === 0) return null;
  const start = Math.max(0, column - 1 - CONTEXT);
  const shown = written.slice(start, column - 1 + CONTEXT).map((character) => (/\s/.test(character) ? ' ' : character));
  const cut = start > 0 ? '…' : '';
  return [`    ${cut}${shown.join('')}`, `    ${' '.repeat(cut.length + column - 1 - start)}^`];
}
