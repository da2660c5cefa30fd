/** Starts functions-main.ts. */
require('../typescript');
module.require('./functions-main.ts');
