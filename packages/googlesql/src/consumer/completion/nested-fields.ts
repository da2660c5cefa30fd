/** Fields within arrays of records, which a query reaches by UNNEST. */
import type { Candidate } from '../../resolver';
import { typeText } from '../../type-names';
import type { SqlType, StructField } from '../../types';
import type { Completion } from './completion';
import { writtenName } from '../../lexer';

/** Levels of arrays, and fields, that are offered. */
const DEEPEST = 5;
const MOST = 400;

/**
 * The fields below the visible names, each with the joins that reach it.
 *
 * @param end of the FROM clause, where the joins are added
 */
export function nestedFields(names: readonly Candidate[], end: number): readonly Completion[] {
  const found: Completion[] = [];
  const taken = new Set(names.map(({ name }) => name.toLowerCase()));
  const direct = new Set(names.flatMap(({ name, isRow }) => (isRow ? [] : [name.toLowerCase()])));
  for (const { name, type, isRow } of names) {
    if (type === null) continue;
    if (type.kind === 'STRUCT' && isRow) {
      // What a column is called by itself is not offered again through its table.
      const fields = type.fields.filter(
        (field) => !isRecords(field.type) || !direct.has(field.name?.toLowerCase() ?? ''),
      );
      addFields(found, fields, { path: name, owner: writtenName(name), joins: '', end }, taken, 1);
    } else addField(found, { name, type }, { path: '', owner: '', joins: '', end }, taken, 1);
  }
  return found;
}

interface Way {
  /** What is shown before a field. */
  readonly path: string;
  /** What the query writes before it. */
  readonly owner: string;
  readonly joins: string;
  readonly end: number;
}

function addFields(
  found: Completion[],
  fields: readonly StructField[],
  way: Way,
  taken: ReadonlySet<string>,
  level: number,
): void {
  for (const { name, type } of fields) {
    if (name === null) continue;
    if (found.length >= MOST) return;
    if (way.path !== '' && !isRecords(type)) {
      const label = `${way.path}.${name}`;
      const completion = {
        label,
        kind: 'field' as const,
        insert: `${way.owner}.${writtenName(name)}`,
        type: typeText(type),
      };
      found.push(
        way.joins === ''
          ? completion
          : { ...completion, detail: way.joins.trim(), also: { at: way.end, insert: way.joins } },
      );
    } else addField(found, { name, type }, way, taken, level);
  }
}

/** A field or column that holds records. */
function addField(
  found: Completion[],
  { name, type }: StructField,
  way: Way,
  taken: ReadonlySet<string>,
  level: number,
): void {
  if (name === null || level > DEEPEST) return;
  const path = way.path === '' ? name : `${way.path}.${name}`;
  const value = way.owner === '' ? writtenName(name) : `${way.owner}.${writtenName(name)}`;
  if (type.kind === 'STRUCT') {
    addFields(found, type.fields, { ...way, path, owner: value }, taken, level + 1);
  } else if (type.kind === 'ARRAY' && type.element.kind === 'STRUCT') {
    const alias = aliasFor(name, taken);
    const joins = `${way.joins} CROSS JOIN UNNEST(${value}) AS ${alias}`;
    const below = { ...way, path, owner: alias, joins };
    addFields(found, type.element.fields, below, new Set([...taken, alias]), level + 1);
  }
}

function isRecords(type: SqlType): boolean {
  return type.kind === 'STRUCT' || (type.kind === 'ARRAY' && type.element.kind === 'STRUCT');
}

/** Its first letter, as people write it; with a number where that is taken. */
function aliasFor(name: string, taken: ReadonlySet<string>): string {
  const letter = /[a-z]/i.exec(name)?.[0].toLowerCase() ?? 'u';
  if (!taken.has(letter)) return letter;
  for (let n = 2; ; n++) if (!taken.has(`${letter}${n}`)) return `${letter}${n}`;
}
