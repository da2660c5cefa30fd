import type { Log } from '../engine/log';
import { LocalConverter } from '../follow/local-converter';
import type { Opening } from './messages';
import type { Serving } from './serving';

/** Writes segments of the data folder. */
export function openConverter({ resources }: Opening & { role: 'converter' }, log: Log): Serving {
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
