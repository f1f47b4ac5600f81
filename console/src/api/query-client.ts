import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { isUnanswered, noAnswer, Problem } from './client';

const isWorthAnother = (error: Error): boolean =>
  !(error instanceof Problem) || (error.status === 0 && error.code !== noAnswer) || error.status >= 500;

const isUnknown = (error: Error): boolean => error instanceof Problem && error.status === 401;

/** Reads the session again after a 401. If it is over, the user can sign in. */
export function readSessionAgain(): void {
  void queryClient.invalidateQueries({ queryKey: ['session'] }, { cancelRefetch: false });
}

/** The rows of a list do not change while the user reads, and payloads never change. */
const kept: readonly unknown[] = ['requests', 'payload'];

/** Reads the shown data again, for example after an outage. What is kept is read only if it could not be read. */
export function readAllAgain(): void {
  void queryClient.invalidateQueries(
    { predicate: ({ queryKey: [kind], state }) => state.status === 'error' || !kept.includes(kind) },
    { cancelRefetch: false },
  );
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
