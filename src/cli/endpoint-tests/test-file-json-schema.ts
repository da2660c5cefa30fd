import { jsonSchemaOf } from '../../endpoints/settings-json-schema';
import { testFileSchema } from './test-file';

/** Files of tests as JSON Schema, draft 7. */
export function testFileJsonSchema(): object {
  return { ...jsonSchemaOf(testFileSchema), title: 'Tests of a stored query of Logquay' };
}
