/** A value or a row in BigQuery's answer does not have the form that its schema says. */
export class MalformedRow extends Error {
  override readonly name = 'MalformedRow';
}
