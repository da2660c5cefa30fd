import type { Log } from '../engine/log';
import type { Opening } from './messages';
import type { OnStatus, Serving } from './serving';

/** What each role needs is loaded by itself. */
const MODULES = {
  data: async () => import('./data-serving.js'),
  planning: async () => import('./planning-serving.js'),
} as const;

/** Loads what a role needs, before it is opened. */
export async function loadServing(role: Opening['role']): Promise<void> {
  await MODULES[role]();
}

/** @throws DataFault for data that the service cannot start with */
export async function openServing(opening: Opening, log: Log, onStatus: OnStatus): Promise<Serving> {
  switch (opening.role) {
    case 'data':
      return (await MODULES.data()).openData(opening, log, onStatus);
    case 'planning':
      return (await MODULES.planning()).openPlanning(log);
  }
}
