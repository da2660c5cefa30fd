/** Starts main.ts. */
require('../../typescript');
module.require('./main.ts');
