import { openFixture } from '../../packages/duckdb-engine/test/fixture-engine';
import { analysisSuite } from './analyse';
import { storedAnalysisSuite } from './stored';

analysisSuite('the embedded engine', openFixture);
storedAnalysisSuite('the embedded engine', openFixture);
