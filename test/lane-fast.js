module.exports = require('./lanes.js').lane('fast');
