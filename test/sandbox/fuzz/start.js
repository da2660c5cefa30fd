/** Starts main.ts. */
require('../../typescript');
require('./main');
