import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isUnanswered, Problem } from './client';

const isWorthAnother = (error: Error): boolean =>
  !(error instanceof Problem) || error.status === 0 || error.status >= 500;

const isUnknown = (error: Error): boolean => error instanceof Problem && error.status === 401;

/** Reads the session again after a 401. If it is over, the user can sign in. */
export function readSessionAgain(): void {
  void queryClient.invalidateQueries({ queryKey: ['session'] }, { cancelRefetch: false });
}

/** Reads all shown data again, for example after an outage. */
export function readAllAgain(): void {
  void queryClient.invalidateQueries(undefined, { cancelRefetch: false });
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({
    onError: (error, { queryKey: [kind] }) => {
      if (kind !== 'session' && isUnknown(error)) readSessionAgain();
    },
  }),
  mutationCache: new MutationCache({
    onError: (error) => {
      if (isUnknown(error)) readSessionAgain();
      // The change may have been made.
      if (isUnanswered(error)) readAllAgain();
    },
  }),
  defaultOptions: {
    queries: {
      retry: (count, error) => count < 2 && isWorthAnother(error),
      staleTime: 2_000,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
