import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { readRequest } from './calls';
import type { RequestDetails } from './types';

const againMs = 2_000;

/** True if the request waits for the bound of its key. Its stream does not report when that is over. */
export const isHeld = ({ status, held_at }: RequestDetails): boolean =>
  status === 'IN_QUEUE' && held_at !== undefined;

/** Reads a request, again after a moment while `isAwaited` returns true. */
export const useDetails = (
  id: string,
  isAwaited: (request: RequestDetails) => boolean,
  isWanted = true,
): UseQueryResult<RequestDetails> =>
  useQuery({
    queryKey: ['request', id],
    queryFn: ({ signal }) => readRequest(id, signal),
    enabled: isWanted,
    refetchInterval: ({ state: { data } }) => data !== undefined && isAwaited(data) && againMs,
  });
