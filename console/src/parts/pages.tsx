import { type UseInfiniteQueryResult, useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useMemo } from 'react';
import { Bones, Dated, Failure } from './states';

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

type List<T> = UseInfiniteQueryResult<InfiniteData<Page<T>>> & { rows: readonly T[] };

/** Reads a list page by page. */
export function useList<T>(
  queryKey: readonly unknown[],
  read: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  options: { refetchInterval?: number } = {},
): List<T> {
  const list = useInfiniteQuery({
    queryKey: [...queryKey, 'pages'],
    queryFn: ({ pageParam, signal }) => read(pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    ...options,
  });
  const { data } = list;
  const rows = useMemo(() => data?.pages.flatMap((page) => page.data) ?? [], [data]);
  return { ...list, rows };
}

interface ListedProps<T> {
  list: List<T>;
  /** Rows of the placeholder shown until the list is read. */
  bones?: number;
  /** Shown after the button for older rows. */
  note?: string;
  children: (rows: readonly T[]) => React.ReactNode;
}

/**
 * Shows a placeholder, then the rows, then a button for older rows. Old rows are greyed while newer ones cannot be
 * read.
 */
export function Listed<T>({ list, bones = 6, note, children }: ListedProps<T>) {
  const { rows, error, isPending, hasNextPage, isFetchingNextPage } = list;
  // To read all pages again would move the rows that are shown.
  const retry = (): void => void (list.isFetchNextPageError ? list.fetchNextPage() : list.refetch());
  return (
    <>
      {isPending && <Bones rows={bones} />}
      {list.data === undefined ? (
        error !== null && <Failure error={error} onRetry={retry} />
      ) : (
        <Dated error={error} readAt={list.dataUpdatedAt} onRetry={retry}>
          {children(rows)}
        </Dated>
      )}
      {hasNextPage && (
        <div className="row">
          <button type="button" disabled={isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {isFetchingNextPage ? 'Loading…' : 'Show older'}
          </button>
          {note !== undefined && <span className="muted">{note}</span>}
        </div>
      )}
    </>
  );
}
