/** `npm run fuzz:hostile`: starts main.ts. */
require('../typescript');
module.require('./main.ts');
