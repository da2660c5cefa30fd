import { openFixture } from '../../packages/duckdb-engine/test/fixture-engine';
import { answersLogQueries } from './answers';

answersLogQueries('the embedded engine', openFixture);
