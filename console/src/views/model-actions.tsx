import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeModel, probeModel } from '../api/calls';
import type { AdminModel } from '../api/types';
import { counted, runsGoOn } from '../format/quantities';
import { Dialog } from '../parts/dialog';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { Time } from '../parts/time';

/** Buttons that pause, resume and probe a model, and change its concurrency. */
export function ModelActions({ model }: { model: AdminModel }) {
  const [open, setOpen] = useState<'pause' | 'concurrency'>();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (body: Parameters<typeof changeModel>[1]) => changeModel(model.id, body),
    onSuccess: (_, { concurrency }) => {
      const done = concurrency === undefined ? 'pause' : 'concurrency';
      // Another dialog may have been opened meanwhile.
      setOpen((now) => (now === done ? undefined : now));
      return client.invalidateQueries({ queryKey: ['models'] });
    },
  });
  const show = (dialog: typeof open): void => {
    // The next dialog does not get the error of another action.
    if (change.error !== null) change.reset();
    setOpen(dialog);
  };
  const probe = useMutation({ mutationFn: () => probeModel(model.id) });
  const isPaused = model.paused.current !== false;
  const isAway = model.nodes.some(({ addresses_away: away }) => away.length > 0);
  return (
    <>
      {model.concurrency.override !== null && (
        <span className="chip warn" title={`Changed by ${model.concurrency.overridden_by ?? 'an operator'}`}>
          Concurrency in models.yaml: {model.concurrency.base ?? 'no maximum'}
        </span>
      )}
      {isAway && !isPaused && (
        <ActButton
          disabled={probe.isPending}
          title="Each node probes its unreachable addresses now"
          onClick={() => probe.mutate()}
        >
          Probe now
        </ActButton>
      )}
      {probe.error !== null && <Failure error={probe.error} />}
      {isPaused ? (
        <ActButton
          className="primary"
          disabled={change.isPending}
          onClick={() => change.mutate({ paused: false })}
        >
          Resume
        </ActButton>
      ) : (
        <ActButton onClick={() => show('pause')}>Pause…</ActButton>
      )}
      <ActButton onClick={() => show('concurrency')}>
        Concurrency: {model.concurrency.current ?? 'no maximum'}…
      </ActButton>
      {open === undefined && change.error !== null && <Failure error={change.error} />}
      {open === 'pause' && <PauseDialog model={model} change={change} onClose={() => show(undefined)} />}
      {open === 'concurrency' && (
        <ConcurrencyDialog model={model} change={change} onClose={() => show(undefined)} />
      )}
    </>
  );
}

interface ChangeProps {
  model: AdminModel;
  change: {
    mutate: (body: Parameters<typeof changeModel>[1]) => void;
    isPending: boolean;
    error: Error | null;
  };
  onClose: () => void;
}

function PauseDialog({ model, change, onClose }: ChangeProps) {
  const [mode, setMode] = useState<'hold' | 'reject'>('hold');
  const [reason, setReason] = useState('');
  return (
    <Dialog title={`Pause ${model.id}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ paused: mode, ...reasonIn(reason) });
        }}
      >
        <p>
          No node starts more of its requests. {runsGoOn(model.running)}{' '}
          {model.waiting > 0 &&
            `${counted(model.waiting, 'waiting request keeps its place', 'waiting requests keep their places')}.`}
        </p>
        <fieldset>
          <legend>New requests</legend>
          <label className="choice">
            <input type="radio" name="mode" checked={mode === 'hold'} onChange={() => setMode('hold')} />
            <span>are accepted and wait</span>
          </label>
          <label className="choice">
            <input type="radio" name="mode" checked={mode === 'reject'} onChange={() => setMode('reject')} />
            <span>
              are refused with 503 <code>model_paused</code>
            </span>
          </label>
        </fieldset>
        <ReasonField value={reason} onChange={setReason} />
        {change.error !== null && <Failure error={change.error} />}
        <div className="buttons">
          <button type="button" onClick={onClose}>
            Leave it running
          </button>
          <ActButton type="submit" className="primary" disabled={change.isPending}>
            Pause {model.id}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

function ConcurrencyDialog({ model, change, onClose }: ChangeProps) {
  const { current, base, override, overridden_at, overridden_by } = model.concurrency;
  const [value, setValue] = useState(String(current ?? ''));
  const [reason, setReason] = useState('');
  return (
    <Dialog title={`Concurrency of ${model.id}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ concurrency: Number(value), ...reasonIn(reason) });
        }}
      >
        <label className="field">
          <span>Concurrency, over all nodes</span>
          <input
            type="number"
            min="1"
            max="10000"
            required
            value={value}
            onChange={({ target }) => setValue(target.value)}
          />
        </label>
        <p className="small muted">
          models.yaml: {base ?? 'no maximum (as many as workers claim)'}.{' '}
          {override !== null && (
            <>
              {overridden_by ?? 'An operator'} changed it to {override}
              {overridden_at !== null && (
                <>
                  {' '}
                  at <Time at={overridden_at} />
                </>
              )}
              .{' '}
            </>
          )}
          A change reaches all nodes within 2 s and survives restarts. Runs in progress continue.
        </p>
        <ReasonField value={reason} onChange={setReason} />
        {change.error !== null && <Failure error={change.error} />}
        <div className="buttons">
          {override !== null && (
            <ActButton
              type="button"
              disabled={change.isPending}
              onClick={() => change.mutate({ concurrency: null, ...reasonIn(reason) })}
            >
              Reset to {base ?? 'no maximum'}
            </ActButton>
          )}
          <button type="button" onClick={onClose}>
            Go back
          </button>
          <ActButton
            type="submit"
            className="primary"
            disabled={change.isPending || value === String(current ?? '')}
          >
            Set concurrency to {value || '…'}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}
