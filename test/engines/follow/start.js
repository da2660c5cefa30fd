/** Starts main.ts. */
require('../../hostile/typescript');
module.require('./main.ts');
