/** Whose habits the server answers with. */
export type ShapeName = 'bigquery' | 'goccy' | 'ok-errors';

export const SHAPES: readonly ShapeName[] = ['bigquery', 'goccy', 'ok-errors'];

/** How the server differs from BigQuery. Settable while it runs, over the control path. */
export interface Shape {
  name: ShapeName;
  /** `defaultDataset` of a query is not looked at. */
  ignoreDefaultDataset: boolean;
}

/** goccy's emulator: no paging of jobs.query, no byte counts, no schema in a dry run, one reason for every error. */
export function isGoccy(shape: Shape): boolean {
  return shape.name === 'goccy';
}

/** What a POST to the control path may hold. */
export interface ControlInput {
  readonly reset?: unknown;
  readonly faults?: unknown;
  readonly shape?: unknown;
  readonly ignoreDefaultDataset?: unknown;
  readonly clock?: unknown;
}
