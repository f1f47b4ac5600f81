import { useEffect, useState } from 'react';
import { type Grown, grownBy, nothing, type Said } from '../request/grown';
import { requestPath } from './calls';
import { keepOpen } from './event-source';

/** Returns the output of a request as it grows, while the page is visible. */
export function useOutputStream(id: string, isWanted: boolean): Grown {
  const [grown, setGrown] = useState(nothing);
  useEffect(() => {
    if (!isWanted) return;
    let seen = '';
    return keepOpen(
      () => `${requestPath(id)}/output/stream${seen === '' ? '' : `?starting_after=${seen}`}`,
      (source, close) => {
        for (const name of ['output', 'reset', 'done'] as const)
          source.addEventListener(name, ({ data, lastEventId }: MessageEvent<string>) => {
            seen = lastEventId;
            setGrown((before) => grownBy(before, name, JSON.parse(data) as Said));
            if (name === 'done') close();
          });
      },
    );
  }, [id, isWanted]);
  return grown;
}
