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
  children: (rows: readonly T[]) => React.ReactNode;
}

/**
 * Shows a placeholder, then the rows, then a button for older rows. Old rows are greyed while newer ones cannot be
 * read.
 */
export function Listed<T>({ list, bones = 6, children }: ListedProps<T>) {
  const { rows, error, isPending, hasNextPage, isFetchingNextPage } = list;
  const retry = (): void => void list.refetch();
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
        <div>
          <button type="button" disabled={isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {isFetchingNextPage ? 'Loading…' : 'Show older'}
          </button>
        </div>
      )}
    </>
  );
}
