/** Server-sent events (HTML Standard, section 9.2). */

export interface StreamEvent {
  readonly id: string;
  readonly data: string;
}

/** Parses the text of a stream, which may arrive in pieces of any size. */
export class EventStreamParser {
  #line = '';
  #id = '';
  #data: string[] = [];

  /** Returns the events that the piece completes. */
  push(piece: string): readonly StreamEvent[] {
    // The last line may be incomplete, and so may be a final CR that LF follows.
    const text = this.#line + piece;
    const end = text.endsWith('\r') ? text.length - 1 : text.length;
    const lines = text.slice(0, end).split(/\r\n|\r|\n/);
    this.#line = lines.pop()! + text.slice(end);
    return lines.flatMap((line) => this.#read(line));
  }

  #read(line: string): readonly StreamEvent[] {
    if (line === '') {
      const events = this.#data.length === 0 ? [] : [{ id: this.#id, data: this.#data.join('\n') }];
      this.#data = [];
      return events;
    }
    const [, field, value] = /^([^:]*):? ?(.*)$/s.exec(line)!;
    if (field === 'data') this.#data.push(value!);
    else if (field === 'id') this.#id = value!;
    return [];
  }
}

/** Reads a response until it ends. */
export async function readEvents(response: Response, onEvent: (event: StreamEvent) => void): Promise<void> {
  const parser = new EventStreamParser();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const event of parser.push(value)) onEvent(event);
  }
}

/** Returns 128 random bits that connect a call with its stream. `crypto.randomUUID` exists in secure contexts only. */
export function createExecutionId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
