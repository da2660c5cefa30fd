/** The child process of engine-child.ts. */
require('../typescript');
module.require('./engine-process.ts');
