/** Starts main.ts. */
require('../../../../test/typescript.js');
require('./main');
