import { useRef, useState } from 'react';
import { grownBy, type Grown, nothing } from '../request/grown';
import { requestPath } from './calls';
import { useEventSource } from './event-source';

/** The output of a request as it grows, as long as somebody looks. */
export function useOutputStream(id: string, isWanted: boolean): Grown {
  const [grown, setGrown] = useState(nothing);
  const seen = useRef('');
  useEventSource(
    id,
    isWanted,
    () => `${requestPath(id)}/output/stream${seen.current === '' ? '' : `?starting_after=${seen.current}`}`,
    (source, close) => {
      for (const name of ['output', 'reset', 'done'] as const)
        source.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
          seen.current = lastEventId;
          setGrown((before) => grownBy(before, name, JSON.parse(data)));
          if (name === 'done') close();
        });
    },
  );
  return grown;
}
