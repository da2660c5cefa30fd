/**
 * Samples of tree nodes sampled from their declarations: each field that holds a part of the tree holds a sample of its own, so
 * that a test sees which parts a walk leaves out.
 */
import { join } from 'node:path';
import ts from 'typescript';

export interface Sample {
  readonly kind: string;
  readonly node: object;
  /** What the node is sampled of, by the type that its field has. */
  readonly parts: Readonly<Record<string, readonly object[]>>;
}

export interface Shapes {
  readonly file: string;
  /** Types of parts, each with how a sample of it is sampled. */
  readonly parts: Readonly<Record<string, (id: number) => object>>;
  /** Types whose values hold no part, although their fields may. */
  readonly leaves: readonly string[];
}

/** One sample of every member of the union (or of the interface) `name`. */
export function samplesOf(name: string, { file, parts, leaves: leafNames }: Shapes): readonly Sample[] {
  const path = join(__dirname, '../../..', file);
  const program = ts.createProgram([path], { strict: true, target: ts.ScriptTarget.ES2022, noLib: false });
  const source = program.getSourceFile(path);
  if (source === undefined) throw new Error(`no ${file}`);
  const checker = program.getTypeChecker();
  const declared = new Map(checker.getExportsOfModule(checker.getSymbolAtLocation(source)!).map((s) => [s.name, s]));
  const typeOf = (one: string): ts.Type => checker.getDeclaredTypeOfSymbol(declared.get(one)!);
  const same = (a: ts.Type, b: ts.Type): boolean =>
    checker.isTypeAssignableTo(a, b) && checker.isTypeAssignableTo(b, a);
  const partTypes = Object.keys(parts).map((one) => [one, typeOf(one)] as const);
  const leaves = leafNames.map(typeOf);
  const open: ts.Type[] = [];
  // A member of a union of parts is a part as well.
  const partOf = (type: ts.Type): (typeof partTypes)[number] | undefined =>
    partTypes.find(([, one]) => same(type, one)) ??
    partTypes.find(([, one]) => type.getProperty('kind') !== undefined && checker.isTypeAssignableTo(type, one));
  const isPart = (type: ts.Type): boolean => partOf(checker.getNonNullableType(type)) !== undefined;
  let ids = 0;

  const sample = (type: ts.Type): Sample => {
    const found: Record<string, object[]> = {};
    const value = (of: ts.Type): unknown => {
      const type = checker.getNonNullableType(of);
      const part = partOf(type);
      if (part !== undefined) {
        const sampled = parts[part[0]]!(++ids);
        (found[part[0]] ??= []).push(sampled);
        return sampled;
      }
      if (checker.isArrayType(type) || checker.isTupleType(type)) {
        const element = checker.getTypeArguments(type as ts.TypeReference)[0]!;
        const members = isPart(element) || !element.isUnion() ? [element, element] : element.types;
        return members.map(value).filter((one) => one !== undefined);
      }
      const index = type.getStringIndexType();
      if (index !== undefined) return { A: value(index), B: value(index) };
      if (type.isUnion() || !(type.flags & ts.TypeFlags.Object) || leaves.some((one) => same(type, one)))
        return undefined;
      // A grouping set may hold grouping sets: one within another is enough.
      if (open.filter((one) => one === type).length > 1) return undefined;
      open.push(type);
      const sampled = object(type);
      open.pop();
      return sampled;
    };
    const object = (of: ts.Type): object =>
      Object.fromEntries(
        of.getProperties().map((property) => {
          const declared = checker.getTypeOfSymbol(property);
          return [property.name, textOf(declared) ?? value(declared) ?? null];
        }),
      );
    const textOf = (type: ts.Type): string | undefined =>
      type.isStringLiteral() ? type.value : type.isUnion() ? type.types.map(textOf)[0] : undefined;
    const node = object(type) as { kind?: string };
    return { kind: node.kind ?? name, node, parts: found };
  };
  const type = typeOf(name);
  return (type.isUnion() ? type.types : [type]).map(sample);
}
