/** Where an expression stands: what it may name, and whether aggregates and window functions may occur in it. */
import type { AggregateCall, Column, Expr, SortKey, WindowCall } from '../resolved';
import type { Expression, OrderItem, WindowSpecification } from '../tree';
import type { CteScope, Session } from './session';
import type { Scope } from './scope';

/** Collects the aggregate calls of one SELECT; each becomes a column. */
export interface AggregateSink {
  readonly calls: { column: Column; call: AggregateCall }[];
  /** What their arguments may name: the rows before grouping, wherever the calls stand. */
  readonly scope: Scope | null;
}

/** Collects the window functions of one SELECT. */
export interface WindowSink {
  readonly calls: { column: Column; call: WindowCall }[];
  readonly named: NamedWindows;
  /** What is named in them, wherever the calls stand. */
  readonly scope: Scope | null;
}

/** The WINDOW clause of a SELECT. */
export interface NamedWindows {
  /** By lower-case name. */
  readonly windows: ReadonlyMap<string, WindowSpecification>;
  /** Parts of windows as the first use resolved them: a window of one name is one window, wherever it is used. */
  readonly partitions: Map<Expression, Expr>;
  readonly keys: Map<OrderItem, SortKey>;
}

export interface Context {
  readonly session: Session;
  readonly scope: Scope | null;
  readonly ctes: CteScope | null;
  /** A text: not allowed here, and why. */
  readonly aggregates: AggregateSink | string;
  readonly windows: WindowSink | string;
}

/** A place with names but without aggregates and window functions; `clause` names it in errors. */
export function plainContext(session: Session, scope: Scope | null, ctes: CteScope | null, clause: string): Context {
  return {
    session,
    scope,
    ctes,
    aggregates: `not allowed in ${clause}`,
    windows: `Analytic function not allowed in ${clause}.`,
  };
}
