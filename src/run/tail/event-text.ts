/** Events as `text/event-stream` has them. */

export interface StreamEvent {
  /** Of the position behind it. */
  readonly id?: string;
  /** Absent: a row. */
  readonly event?: string;
  /** One line of JSON; absent: an event that nobody is called for. */
  readonly data?: string;
  /** Milliseconds until a client that lost the stream comes again. */
  readonly retry?: number;
}

export function eventText({ id, event, data, retry }: StreamEvent): string {
  const lines = [
    ...(retry === undefined ? [] : [`retry: ${String(retry)}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(data === undefined ? [] : [`data: ${data}`]),
  ];
  return `${lines.join('\n')}\n\n`;
}
