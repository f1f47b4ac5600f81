import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { readLog } from '../api/calls';
import type { LogEntry } from '../api/types';
import { clockTime, utc } from '../format/times';
import { counted, whole } from '../format/quantities';
import { CopyButton } from '../parts/copy';
import { useMay } from '../parts/rights';
import { Bones, Failure } from '../parts/states';

const shownAtMost = 1_000;

interface LogViewProps {
  id: string;
  isOver: boolean;
  /** The lines that the stream of the request has sent. */
  live: readonly LogEntry[];
  /** Receives the number of lines; `+` means that there are more. */
  onCount: (said: string) => void;
}

export function LogView({ id, isOver, live, onCount }: LogViewProps) {
  const isAllowed = useMay('payloads');
  const list = useRef<HTMLOListElement>(null);
  const [isFollowing, setFollowing] = useState(true);
  const log = useInfiniteQuery({
    queryKey: ['log', id, isOver],
    queryFn: ({ pageParam, signal }) => readLog(id, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled: isAllowed,
  });
  const read = log.data?.pages.flatMap(({ data }) => data) ?? [];
  const last = read.at(-1)?.timestamp ?? '';
  // Lines from the stream are shown after the lines that were read, each once.
  const entries = [...read, ...live.filter(({ timestamp }) => timestamp > last)];
  const shown = entries.slice(-shownAtMost);
  const isKnown = log.data !== undefined || entries.length > 0;
  const count = isKnown ? `${whole(entries.length)}${log.hasNextPage ? '+' : ''}` : undefined;
  const tell = useEffectEvent(onCount);
  useEffect(() => {
    if (count !== undefined) tell(count);
  }, [count]);
  useEffect(() => {
    if (isFollowing && list.current !== null) list.current.scrollTop = list.current.scrollHeight;
  }, [entries.length, isFollowing]);
  if (!isAllowed) {
    return <p className="notice warn">To see the log, your key needs the scope “payloads”.</p>;
  }
  const retry = (): void => void (log.isFetchNextPageError ? log.fetchNextPage() : log.refetch());
  const failure = log.error !== null && <Failure error={log.error} onRetry={retry} />;
  if (entries.length === 0) {
    if (failure) return failure;
    return isKnown ? <p className="empty">No log lines{isOver ? '' : ' yet'}.</p> : <Bones />;
  }
  return (
    <div className="stack">
      {failure}
      <div className="row small muted">
        <span>
          {counted(entries.length, 'line')}
          {shown.length < entries.length && `, the last ${whole(shown.length)} shown`}
        </span>
        <span className="end">
          {log.hasNextPage && (
            <button type="button" onClick={() => void log.fetchNextPage()} disabled={log.isFetchingNextPage}>
              Show more
            </button>
          )}
          {!isOver && (
            <label className="choice">
              <input
                type="checkbox"
                checked={isFollowing}
                onChange={({ target }) => setFollowing(target.checked)}
              />
              <span>Follow</span>
            </label>
          )}
          <CopyButton
            text={entries
              .map(({ timestamp, level, message }) => `${timestamp} ${level} ${message}`)
              .join('\n')}
          />
        </span>
      </div>
      <ol className="log" ref={list} tabIndex={0} aria-label="Log">
        {shown.map((entry, i) => (
          <li key={entry.id ?? i} data-level={entry.level}>
            <time className="muted" dateTime={entry.timestamp} title={utc(entry.timestamp)}>
              {clockTime(entry.timestamp)}
            </time>
            <span className="muted">{entry.source}</span>
            <span className="message">{entry.message}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
