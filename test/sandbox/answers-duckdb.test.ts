import { openFixture } from '../engines/fixture-engine';
import { answersLogQueries } from './answers';

answersLogQueries('the embedded engine', openFixture);
