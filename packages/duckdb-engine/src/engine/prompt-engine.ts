import { raceLimits, type RunLimits } from '../concurrency/deadline';
import type { Engine } from '../contract/contract';
import { ForwardingEngine } from '../contract/forwarding-engine';

/** The engine, with answers at deadline and signal at the latest; what is under way ends behind them. */
export class PromptEngine extends ForwardingEngine {
  override run(...[query, limits]: Parameters<Engine['run']>): ReturnType<Engine['run']> {
    return within(limits, () => super.run(query, limits));
  }
  override stream(...[query, limits, sink]: Parameters<Engine['stream']>): ReturnType<Engine['stream']> {
    return within(limits, () => super.stream(query, limits, sink));
  }
  override get copy(): Engine['copy'] {
    const copy = super.copy;
    return copy && ((query, path, limits) => within(limits, () => copy(query, path, limits)));
  }
  override get runArrived(): Engine['runArrived'] {
    const runArrived = super.runArrived;
    return runArrived && ((query, range, limits) => within(limits, () => runArrived(query, range, limits)));
  }
  override tables(...[paths, limits]: Parameters<Engine['tables']>): ReturnType<Engine['tables']> {
    return within(limits, () => super.tables(paths, limits));
  }
  override describe(...[sql, parameters, limits]: Parameters<Engine['describe']>): ReturnType<Engine['describe']> {
    return within(limits, () => super.describe(sql, parameters, limits));
  }
  override inspect(...call: Parameters<Engine['inspect']>): Promise<void> {
    return within(call[3], () => super.inspect(...call));
  }
  override ping(limits: RunLimits): Promise<void> {
    return within(limits, () => super.ping(limits));
  }
}

function within<T>(limits: RunLimits, work: () => Promise<T>): Promise<T> {
  return raceLimits(limits, work, () => undefined);
}
