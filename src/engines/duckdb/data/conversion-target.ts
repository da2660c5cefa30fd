import type { RestField } from '../../../googlesql/rest-schema';
import { quoteName } from '../sql';
import type { Watch } from './conversion-progress';

/** Where the rows of a file go. */
export interface Target {
  readonly table: string;
  /** The field that rows are kept in order of; null: as they come. */
  readonly order: RestField | null;
  /** Takes all that is needed on the way. */
  readonly folder: string;
  readonly watch: Watch;
}

/** The end of a query whose rows come in order of a field, the last first: those that are read most are found soonest. */
export function orderBy(field: RestField | null): string {
  return field === null ? '' : ` ORDER BY ${quoteName(field.name)} DESC NULLS LAST`;
}
