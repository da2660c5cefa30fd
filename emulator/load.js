/** Loads log tables into a running local BigQuery; `sample/load.mjs` has the options. */
void import('./sample/load.mjs');
