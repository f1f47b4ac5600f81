import { useMutation, useQueryClient } from '@tanstack/react-query';
import { signOut } from '../api/calls';
import { Problem } from '../api/client';
import { Failure } from './states';

/** Ends the session of this browser, which every key may do. The page stays if the session may not have ended. */
export function SignOut() {
  const client = useQueryClient();
  const leave = (): void => {
    client.clear();
    window.location.assign(document.baseURI);
  };
  const ending = useMutation({
    mutationFn: signOut,
    onSuccess: leave,
    onError: (error) => {
      const isOver = error instanceof Problem && error.status === 401;
      if (isOver) leave();
    },
  });
  return (
    <>
      <button type="button" disabled={ending.isPending} onClick={() => ending.mutate()}>
        Sign out
      </button>
      {ending.error !== null && <Failure error={ending.error} />}
    </>
  );
}
