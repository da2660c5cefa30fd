import type { Engine } from './contract';

/** Every member of `Engine`, the optional ones among them: a forwarding engine without a new member does not compile. */
type EveryMember = { readonly [Member in keyof Required<Engine>]: Engine[Member] };

/** Another engine with all of its members; what a subclass does not override is handed on. */
export class ForwardingEngine implements EveryMember {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get kind(): Engine['kind'] {
    return this.#engine.kind;
  }
  get target(): string {
    return this.#engine.target;
  }
  get concurrency(): Engine['concurrency'] {
    return this.#engine.concurrency;
  }
  get opened(): Engine['opened'] {
    return this.#engine.opened;
  }
  get copy(): Engine['copy'] {
    return this.#engine.copy?.bind(this.#engine);
  }
  get runArrived(): Engine['runArrived'] {
    return this.#engine.runArrived?.bind(this.#engine);
  }
  get admits(): Engine['admits'] {
    return this.#engine.admits?.bind(this.#engine);
  }
  get dryRun(): Engine['dryRun'] {
    return this.#engine.dryRun?.bind(this.#engine) ?? null;
  }
  get resident(): Engine['resident'] {
    return this.#engine.resident;
  }
  get breaker(): Engine['breaker'] {
    return this.#engine.breaker?.bind(this.#engine);
  }
  get dataStatus(): Engine['dataStatus'] {
    return this.#engine.dataStatus?.bind(this.#engine);
  }

  run(...call: Parameters<Engine['run']>): ReturnType<Engine['run']> {
    return this.#engine.run(...call);
  }
  stream(...call: Parameters<Engine['stream']>): ReturnType<Engine['stream']> {
    return this.#engine.stream(...call);
  }
  tables(...call: Parameters<Engine['tables']>): ReturnType<Engine['tables']> {
    return this.#engine.tables(...call);
  }
  describe(...call: Parameters<Engine['describe']>): ReturnType<Engine['describe']> {
    return this.#engine.describe(...call);
  }
  inspect(...call: Parameters<Engine['inspect']>): ReturnType<Engine['inspect']> {
    return this.#engine.inspect(...call);
  }
  ping(...call: Parameters<Engine['ping']>): ReturnType<Engine['ping']> {
    return this.#engine.ping(...call);
  }
  close(): Promise<void> {
    return this.#engine.close();
  }
}
