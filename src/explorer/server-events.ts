/** Events of a `text/event-stream` as they come. */
export interface ServerEvent {
  /** Empty: it has none. */
  readonly id: string;
  /** Empty: it has none. */
  readonly name: string;
  /** Empty: it has none. */
  readonly data: string;
}

/** The complete events of each part that comes. Ends with the stream. @throws what reading it throws */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<readonly ServerEvent[]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      if (blocks.length > 0) yield blocks.map(eventOf);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(block: string): ServerEvent {
  const valueOf = (field: string): string =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${field}: `))
      ?.slice(field.length + 2) ?? '';
  return { id: valueOf('id'), name: valueOf('event'), data: valueOf('data') };
}
