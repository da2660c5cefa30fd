module.exports = require('./lanes.js').lane('all');
