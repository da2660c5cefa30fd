/** `npm run fuzz:hostile`: starts main.ts. */
require('../typescript');
require('./main');
