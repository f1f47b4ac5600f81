import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { submit } from '../api/calls';
import type { AdminModel } from '../api/types';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';
import { CallExamples } from './call-examples';

const demo = 'demo/image/fractal';

/** Shown before the first submission: a demo to try, and example calls. */
export function FirstRun({ models }: { models: readonly AdminModel[] }) {
  const [, navigate] = useLocation();
  const [prompt, setPrompt] = useState('a quiet harbour at dusk');
  const sending = useMutation({
    mutationFn: () => submit(demo, JSON.stringify({ prompt })),
    onSuccess: ({ request_id }) => navigate(`/requests/${request_id}`),
  });
  const model = models.find(({ id }) => id === demo) ?? models[0];
  return (
    <section className="card stack" aria-label="First steps">
      <h2>No requests yet</h2>
      {model?.id === demo && (
        <form
          className="row ends"
          onSubmit={(event) => {
            event.preventDefault();
            sending.mutate();
          }}
        >
          <label className="field">
            <span>Prompt for the demo</span>
            <input
              value={prompt}
              required
              maxLength={200}
              onChange={({ target }) => setPrompt(target.value)}
            />
          </label>
          <ActButton needs="submit" type="submit" className="primary" disabled={sending.isPending}>
            Draw it
          </ActButton>
        </form>
      )}
      {sending.error !== null && <Failure error={sending.error} />}
      {model !== undefined && <CallExamples model={model.id} json={JSON.stringify({ prompt })} />}
    </section>
  );
}
