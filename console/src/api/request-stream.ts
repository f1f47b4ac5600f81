import { useEffect, useState } from 'react';
import { requestPath } from './calls';
import { keepOpen } from './event-source';
import { queryClient } from './query-client';
import type { AdminRequest, LogEntry, StreamedStatus } from './types';

interface Followed {
  status: Partial<AdminRequest>;
  logs: LogEntry[];
  positions: { at: string; position: number }[];
}

const nothing: Followed = { status: {}, logs: [], positions: [] };
const maxLines = 5_000;

/**
 * Follows a request while it is open and the page is visible. A page opens one stream for a request, because browsers
 * open only six connections to a service over HTTP/1.1. `showsLog`: whether the page shows the log when the stream has
 * this status. Only then the log is read, because that is audited.
 */
export function useRequestStream(
  id: string,
  isOpen: boolean,
  showsLog: (status: Partial<AdminRequest>) => boolean,
): Followed {
  const [followed, setFollowed] = useState(nothing);
  const withLogs = showsLog(followed.status);
  const isOver = followed.status.status === 'COMPLETED';
  useEffect(() => {
    if (!isOpen || isOver) return;
    return keepOpen(
      () => `${requestPath(id)}/status/stream${withLogs ? '?logs=1' : ''}`,
      (source, close) => {
        // The first message of a connection has the whole log.
        let isFirst = true;
        source.addEventListener('message', ({ data }: MessageEvent<string>) => {
          const { logs = [], ...status } = JSON.parse(data) as StreamedStatus;
          const isAll = isFirst;
          isFirst = false;
          setFollowed((before) => {
            const { queue_position: position } = status;
            const isMove = position !== undefined && before.positions.at(-1)?.position !== position;
            return {
              status,
              logs: isAll
                ? logs
                : logs.length === 0
                  ? before.logs
                  : [...before.logs, ...logs].slice(-maxLines),
              positions: isMove
                ? [...before.positions, { at: new Date().toISOString(), position }]
                : before.positions,
            };
          });
          if (status.status !== 'COMPLETED') return;
          close();
          // The stream has the error as the caller sees it. Operators see more of the model's message.
          void queryClient.invalidateQueries({ queryKey: ['request', id] });
        });
      },
    );
  }, [id, isOpen, isOver, withLogs]);
  return followed;
}
