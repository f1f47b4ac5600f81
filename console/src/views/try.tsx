import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { readModelView, requestPath, submit } from '../api/calls';
import { Problem } from '../api/client';
import { useLive } from '../api/live';
import { isHeld, useDetails } from '../api/request-details';
import { useRequestStream } from '../api/request-stream';
import type { ModelView } from '../api/types';
import { codeOf, followedBy, shownState, State } from '../parts/request-state';
import { useNow } from '../parts/now';
import { ActButton, useMay } from '../parts/rights';
import { Failure, Loaded } from '../parts/states';
import { sentenceOf } from '../request/sentence';
import { CallExamples } from './call-examples';
import { GrowingView } from './growing-view';
import { PayloadView } from './payload-view';
import { ProgressBar } from './progress-bar';
import { RequestFailure } from './request-failure';
import { emptyInput, type Input, inputOf } from '../request/schema-input';
import { SchemaForm } from './schema-form';
import { UsageTable } from './usage-table';

export default function Try({ model }: { model?: string | undefined }) {
  const { overview } = useLive();
  const [, navigate] = useLocation();
  const models = overview?.models.map(({ id }) => id) ?? [];
  return (
    <main className="page">
      <div className="head">
        <h1>Try a model</h1>
        <select
          aria-label="Model"
          value={model ?? ''}
          onChange={({ target }) => navigate(target.value === '' ? '/try' : `/try/${target.value}`)}
        >
          <option value="">Choose a model…</option>
          {model !== undefined && !models.includes(model) && <option>{model}</option>}
          {models.map((id) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </div>
      {model === undefined ? (
        <p className="empty">Choose a model to fill in its input and see its output.</p>
      ) : (
        <Trial key={model} model={model} />
      )}
    </main>
  );
}

function Trial({ model }: { model: string }) {
  const view = useQuery({
    queryKey: ['model-view', model],
    queryFn: ({ signal }) => readModelView(model, signal),
  });
  return <Loaded query={view}>{(read) => <Form view={read} />}</Loaded>;
}

function Form({ view }: { view: ModelView }) {
  const [input, setInput] = useState<Input>(() => emptyInput(view.input_schema));
  const { json, fault } = inputOf(input, view.input_schema);
  const sending = useMutation({ mutationFn: () => submit(view.id, json) });
  const errors = sending.error instanceof Problem ? sending.error.errors : [];
  return (
    <>
      {view.description !== '' && <p className="muted">{view.description}</p>}
      <div className="two">
        <section className="card stack" aria-label="Input">
          <h2>Input</h2>
          <form
            className="stack"
            onSubmit={(event) => {
              event.preventDefault();
              sending.mutate();
            }}
          >
            <SchemaForm schema={view.input_schema} input={input} onChange={setInput} errors={errors} />
            {fault !== undefined && <p className="notice warn">{fault}</p>}
            {sending.error !== null && <Failure error={sending.error} />}
            <div className="buttons">
              <ActButton
                needs="submit"
                type="submit"
                className="primary"
                disabled={sending.isPending || fault !== undefined}
              >
                Submit
              </ActButton>
            </div>
          </form>
        </section>
        <div className="stack">
          {sending.data !== undefined && (
            <Outcome key={sending.data.request_id} id={sending.data.request_id} />
          )}
          <section className="card stack" aria-label="Code for this call">
            <h2>Code for this call</h2>
            <CallExamples model={view.id} json={json} />
          </section>
        </div>
      </div>
    </>
  );
}

function Outcome({ id }: { id: string }) {
  const mayRead = useMay('observe');
  const mayReadPayloads = useMay('payloads');
  const query = useDetails(id, isHeld, mayRead);
  const { status, logs } = useRequestStream(id, mayRead, () => mayReadPayloads);
  const { overview } = useLive();
  const now = useNow();
  return (
    <section className="card stack" aria-label="Output">
      <Loaded query={query}>
        {(read) => {
          const request = followedBy(read, status);
          const isDone = request.status === 'COMPLETED';
          const { progress } = status.status === undefined ? read : status;
          const model = overview?.models.find(({ id }) => id === request.model_id);
          const isModelGone = overview !== undefined && model === undefined;
          return (
            <>
              <div className="row">
                <span aria-live="polite">
                  <State state={shownState(request)} note={codeOf(request)} />
                </span>
                <span className="end">
                  <Link href={`/requests/${id}`}>Request details</Link>
                </span>
              </div>
              <p>{sentenceOf({ request, events: [], model, isModelGone, now })}</p>
              {request.status === 'IN_PROGRESS' && progress !== undefined && <ProgressBar {...progress} />}
              {logs.length > 0 && !isDone && <p className="small muted">{logs.at(-1)!.message}</p>}
              {!isDone && mayReadPayloads && <GrowingView id={id} />}
              {request.outcome === 'succeeded' && (
                <PayloadView path={`${requestPath(id)}/response`} name="output" />
              )}
              {isDone && request.error && <RequestFailure error={request.error} />}
              {request.metrics.usage && <UsageTable usage={request.metrics.usage} />}
            </>
          );
        }}
      </Loaded>
    </section>
  );
}
