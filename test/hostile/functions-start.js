/** Starts functions-main.ts. */
require('../typescript');
require('./functions-main');
