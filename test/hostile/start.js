/** `npm run test:long -- hostile`: starts main.ts. */
require('../typescript');
require('./main');
