import { writeSync } from 'node:fs';

/** A process's output. It waits until all of it has been taken, as `Incoming` waits for what comes. */
export class Outgoing {
  constructor(private readonly fd: number) {}

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += writeSync(this.fd, bytes, at);
  }
}
