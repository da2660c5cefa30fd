import { setPriority } from 'node:os';

import type { Log } from '../engine/log';
import { LocalConverter } from '../follow/local-converter';
import type { Opening } from './messages';
import type { Serving } from './serving';

/** Nice: queries have three quarters of a core that both want, and rows are stored none the less. */
const GIVES_WAY = 5;

/** Writes segments of the data folder. */
export function openConverter({ resources }: Opening & { role: 'converter' }, log: Log): Serving {
  try {
    // DuckDB's threads, which start later, have the same.
    setPriority(GIVES_WAY);
  } catch {
    // Rows are stored where that is forbidden, too.
  }
  const converter = new LocalConverter(resources, log.progress);
  return {
    target: '',
    contents: null,
    status: null,
    opened: Promise.resolve(),
    async answer(request) {
      if (request.kind !== 'convert') throw new Error('There are no queries here.');
      return converter.convert(request.job);
    },
    // What is half written goes with the folder that it is in.
    close: () => Promise.resolve(),
  };
}
