export interface ServerSentEvent {
  /** `message`: the event has no name. */
  event: string;
  id: string | undefined;
  data: string;
}

/** A caller that has followed for this long comes back to another node. */
export const followedMs = 120_000;

/** Reads server-sent events; a silent connection ends the reading after `patienceMs`. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  patienceMs: number,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const chunk = await inTime(reader.read(), patienceMs);
      if (chunk === undefined || chunk.done) return;
      text += decoder.decode(chunk.value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) {
        const event = parse(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function parse(block: string): ServerSentEvent | undefined {
  const data: string[] = [];
  let id: string | undefined;
  let event = 'message';
  for (const line of block.split('\n')) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
    else if (field === 'event') event = value;
  }
  return data.length === 0 ? undefined : { event, id, data: data.join('\n') };
}

async function inTime<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((done) => {
    timer = setTimeout(() => done(undefined), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
