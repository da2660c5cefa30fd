require('../typescript');
module.require('./words-main.ts');
