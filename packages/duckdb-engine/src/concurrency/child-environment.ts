/** No secret of the service's: processes that it starts need none. The last are settings of the C library's memory. */
const PASSED_ON = [
  ...['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'NODE_OPTIONS', 'SystemRoot', 'LD_LIBRARY_PATH'],
  ...['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_'],
];

/** The environment of a process that the service starts. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const passedOn = PASSED_ON.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(passedOn.filter(([, value]) => value !== undefined));
}
