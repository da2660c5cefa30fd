/** A value bound by name. The text is canonical for its type: digits, `true`, a shortest double, or the string itself. */
export interface BoundParameter {
  readonly name: string;
  readonly type: 'STRING' | 'INT64' | 'FLOAT64' | 'BOOL';
  readonly value: string;
}
