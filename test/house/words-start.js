require('../hostile/typescript');
module.require('./words-main.ts');
