import { createServer, type Server, type Socket, connect } from 'node:net';
import type { AddressInfo } from 'node:net';

import { type Clock, SYSTEM_CLOCK } from '../../packages/duckdb-engine/src/concurrency/clock';

/**
 * What a proxy does to what comes through it. `through`: nothing. `hang`: connections are accepted, and nothing comes
 * through. `garbage`: the server's answers are replaced by something that is no Redis protocol. `nonsense`: every command is
 * answered, by something that Redis would not answer.
 */
export type ProxyMode = 'through' | 'hang' | 'garbage' | 'nonsense';

/** A line to a server that can be made bad. */
export class Proxy {
  mode: ProxyMode = 'through';
  /** Milliseconds by which the server's answers are late. */
  delay = 0;
  /** Connections that were ever made. */
  connections = 0;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(
    target: number,
    private readonly clock: Clock,
  ) {
    this.#server = createServer((client) => {
      this.connections++;
      const server = connect(target, '127.0.0.1');
      for (const [one, other] of [
        [client, server],
        [server, client],
      ] as const) {
        this.#open.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#open.delete(one);
          other.destroy();
        });
      }
      client.on('data', (bytes) => this.#ask(bytes, client, server));
      server.on('data', (bytes) => this.#answer(bytes, client));
    });
  }

  static async to(target: number, clock: Clock = SYSTEM_CLOCK): Promise<Proxy> {
    const proxy = new Proxy(target, clock);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Connections that are open now. */
  get size(): number {
    return this.#open.size / 2;
  }

  /** Cuts every connection there is; new ones are accepted. */
  cut(): void {
    for (const socket of this.#open) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #ask(bytes: Buffer, client: Socket, server: Socket): void {
    switch (this.mode) {
      case 'hang':
        return;
      case 'garbage':
        client.write('HTTP/1.1 400 Bad Request\r\n\r\n');
        return;
      case 'nonsense':
        // One word for every command: each begins with the number of its parts.
        for (let i = bytes.toString('latin1').match(/\*\d+\r\n/g)?.length ?? 0; i > 0; i--)
          client.write('+nonsense\r\n');
        return;
      case 'through':
        server.write(bytes);
    }
  }

  #answer(bytes: Buffer, client: Socket): void {
    if (this.mode !== 'through') return;
    if (this.delay === 0) client.write(bytes);
    else this.clock.after(this.delay, () => this.mode === 'through' && client.write(bytes));
  }
}
