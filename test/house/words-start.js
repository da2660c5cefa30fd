require('../typescript');
require('./words-main');
