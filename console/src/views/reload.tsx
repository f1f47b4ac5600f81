import { useMutation } from '@tanstack/react-query';
import { reloadModels } from '../api/calls';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';

/** Reloads models.yaml, all or nothing, and shows what changed. */
export function Reload() {
  const reloading = useMutation({ mutationFn: reloadModels });
  const { data, error, isPending } = reloading;
  const parts =
    data === undefined
      ? []
      : (
          [
            ['new', data.added],
            ['changed', data.changed],
            ['removed', data.removed.map(({ id }) => id)],
          ] as const
        )
          .filter(([, ids]) => ids.length > 0)
          .map(([what, ids]) => `${what}: ${ids.join(', ')}`);
  return (
    <>
      {error !== null && <Failure error={error} />}
      {data !== undefined && (
        <span className="muted" role="status">
          {parts.length === 0 ? 'models.yaml has not changed' : parts.join('; ')}
        </span>
      )}
      <ActButton disabled={isPending} onClick={() => reloading.mutate()}>
        Reload models.yaml
      </ActButton>
    </>
  );
}
