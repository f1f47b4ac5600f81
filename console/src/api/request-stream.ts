import { useEffect, useState } from 'react';
import { serviceAddress } from './base';
import { requestPath } from './calls';
import type { AdminRequest, LogEntry, StreamedStatus } from './types';

interface Followed {
  status: Partial<AdminRequest>;
  logs: LogEntry[];
  positions: { at: string; position: number }[];
}

const nothing: Followed = { status: {}, logs: [], positions: [] };
const maxLines = 5_000;

/** Follows a request as long as it is open and somebody looks. */
export function useRequestStream(id: string, isOpen: boolean): Followed {
  const [followed, setFollowed] = useState(nothing);
  useEffect(() => {
    if (!isOpen) return;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const open = (): void => {
      if (source !== undefined || document.hidden) return;
      source = new EventSource(serviceAddress(`${requestPath(id)}/status/stream?logs=1`));
      source.addEventListener('message', ({ data }: MessageEvent<string>) => {
        const { logs = [], ...status } = JSON.parse(data) as StreamedStatus;
        setFollowed((before) => {
          const { queue_position: position } = status;
          const isMove = position !== undefined && before.positions.at(-1)?.position !== position;
          return {
            status,
            logs: logs.length === 0 ? before.logs : [...before.logs, ...logs].slice(-maxLines),
            positions: isMove
              ? [...before.positions, { at: new Date().toISOString(), position }]
              : before.positions,
          };
        });
        if (status.status === 'COMPLETED') close();
      });
      source.addEventListener('error', () => {
        close();
        timer = setTimeout(open, 2_000);
      });
    };
    const close = (): void => {
      clearTimeout(timer);
      source?.close();
      source = undefined;
    };
    const look = (): void => (document.hidden ? close() : open());
    open();
    document.addEventListener('visibilitychange', look);
    return () => {
      document.removeEventListener('visibilitychange', look);
      close();
    };
  }, [id, isOpen]);
  return followed;
}
