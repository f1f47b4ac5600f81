import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { changeKey } from '../api/calls';
import type { AdminKey, KeyBody, NewKey, Scope } from '../api/types';
import { localTime } from '../format/times';
import { Dialog } from '../parts/dialog';
import { ReasonField, reasonIn } from '../parts/reason-field';
import { ActButton } from '../parts/rights';
import { Failure } from '../parts/states';

const scopes: readonly (readonly [Scope, string])[] = [
  ['submit', 'submit requests'],
  ['read', 'read its own requests'],
  ['cancel', 'cancel its own requests'],
  ['work', 'run requests of its models, as a worker'],
  ['observe', 'see this console, without payloads'],
  ['payloads', 'also see inputs, outputs and logs'],
  ['admin', 'see and change everything'],
];

interface KeyFormProps {
  /** undefined: the form creates a key. */
  given?: AdminKey;
  onClose: () => void;
  onMade?: (key: NewKey) => void;
  save?: (key: KeyBody) => Promise<NewKey>;
}

export function KeyForm({ given, onClose, onMade, save }: KeyFormProps) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(
    new Set(given?.scopes ?? ['submit', 'read', 'cancel']),
  );
  const [reason, setReason] = useState('');
  const saving = useMutation({
    mutationFn: async (body: KeyBody) => {
      if (given === undefined) onMade?.(await save!(body));
      else await changeKey(given.id, body);
    },
    onSuccess: () => {
      onClose();
      return client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    saving.mutate({ ...toBody(new FormData(event.currentTarget), chosen, given), ...reasonIn(reason) });
  };
  return (
    <Dialog
      title={given === undefined ? 'Create a key' : `Change the key “${given.name}”`}
      isWide
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Field name="name" label="Name of the user or application" value={given?.name} required />
        <fieldset>
          <legend>Scopes</legend>
          <div className="choices">
            {scopes.map(([scope, does]) => (
              <label className="choice" key={scope} aria-label={`${scope}: ${does}`}>
                <input
                  type="checkbox"
                  checked={chosen.has(scope)}
                  onChange={({ target }) => {
                    const next = new Set(chosen);
                    if (target.checked) next.add(scope);
                    else next.delete(scope);
                    setChosen(next);
                  }}
                />
                <span>
                  <b>{scope}</b> <span className="muted">{does}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <div className="filters">
          <Field
            name="models"
            label="Models (empty: all)"
            value={given?.models?.join(', ')}
            placeholder="acme/image/*, demo/text/echo"
          />
          <Field
            name="rate_limit_submit"
            label="Limit of submissions"
            value={given?.limits.submit}
            placeholder="default, or 10/s,100/m"
          />
          <Field
            name="rate_limit_other"
            label="Limit of other calls"
            value={given?.limits.other}
            placeholder="default, or 100/s,1800/m"
          />
          <Field
            name="rate_limit_batch"
            label="Limit of batch items"
            value={given?.limits.batch}
            placeholder="default, or 2000/s,50000/m"
          />
          <Field name="weight" label="Weight" value={String(given?.weight ?? 1)} type="number" />
          <Field
            name="max_waiting"
            label="Maximum waiting"
            value={given?.max_waiting}
            type="number"
            placeholder="no maximum"
          />
          <Field
            name="max_running"
            label="Maximum running, per model"
            value={given?.max_running}
            type="number"
            placeholder="no maximum"
          />
          <label className="field">
            <span>Highest priority</span>
            <select name="max_priority" defaultValue={given?.max_priority ?? 'high'}>
              <option value="high">high</option>
              <option value="normal">normal</option>
              <option value="low">low</option>
            </select>
          </label>
          <Field
            name="expires"
            label="Expires (empty: never)"
            type="datetime-local"
            value={given?.expires_at && localTime(new Date(given.expires_at))}
          />
        </div>
        <ReasonField value={reason} onChange={setReason} />
        {saving.error !== null && <Failure error={saving.error} />}
        <div className="buttons">
          <button type="button" onClick={onClose}>
            Go back
          </button>
          <ActButton type="submit" className="primary" disabled={saving.isPending || chosen.size === 0}>
            {given === undefined ? 'Create the key' : `Change ${given.name}`}
          </ActButton>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  name: string;
  label: string;
  value?: string | number | null | undefined;
  type?: string;
  placeholder?: string;
  required?: boolean;
}

function Field({ name, label, value, type = 'text', ...input }: FieldProps) {
  return (
    <label className="field">
      <span>{label}</span>
      <input
        name={name}
        type={type}
        step={type === 'number' ? 'any' : undefined}
        autoComplete="off"
        defaultValue={value ?? ''}
        {...input}
      />
    </label>
  );
}

/** Returns only the changed fields when a key is changed. */
function toBody(form: FormData, scopes: ReadonlySet<Scope>, given: AdminKey | undefined): KeyBody {
  const text = (name: string): string | null => (form.get(name) as string | null)?.trim() || null;
  const number = (name: string): number | null => (text(name) === null ? null : Number(text(name)));
  const models = text('models')
    ?.split(/[\s,]+/)
    .filter((model) => model !== '');
  const expires = text('expires');
  const all: KeyBody = {
    name: text('name') ?? '',
    scopes: [...scopes],
    models: models ?? null,
    limits: {
      submit: text('rate_limit_submit'),
      other: text('rate_limit_other'),
      batch: text('rate_limit_batch'),
    },
    max_priority: (text('max_priority') ?? 'high') as AdminKey['max_priority'],
    max_waiting: number('max_waiting'),
    max_running: number('max_running'),
    weight: number('weight') ?? 1,
    expires: expires === null ? null : new Date(expires).toISOString(),
  };
  const before: Record<string, unknown> =
    given === undefined
      ? { models: null, limits: noLimits, max_waiting: null, max_running: null, expires: null }
      : {
          ...given,
          limits: { ...noLimits, ...given.limits },
          expires: given.expires_at && new Date(localTime(new Date(given.expires_at))).toISOString(),
        };
  const isSame = (name: string, value: unknown): boolean =>
    JSON.stringify(before[name]) === JSON.stringify(value);
  return Object.fromEntries(Object.entries(all).filter(([name, value]) => !isSame(name, value)));
}

const noLimits = { submit: null, other: null, batch: null };
