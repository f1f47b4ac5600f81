import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { listKeys } from '../api/calls';
import { useLive } from '../api/live';
import { localTime } from '../format/times';
import { useFilters } from '../parts/use-url-state';

const states = [
  ['', 'any state'],
  ['IN_QUEUE', 'waiting'],
  ['IN_PROGRESS', 'running'],
  ['COMPLETED', 'completed'],
] as const;
const outcomes = [
  ['', 'any outcome'],
  ['succeeded', 'succeeded'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
  ['expired', 'expired'],
] as const;

export function Filters() {
  const [parameters, setFilters] = useFilters();
  const { overview } = useLive();
  const keys = useQuery({ queryKey: ['keys'], queryFn: ({ signal }) => listKeys(signal), staleTime: 60_000 });
  const of = (name: string): string => parameters.get(name) ?? '';
  const set = (name: string) => (value: string) => setFilters({ [name]: value });
  const models = overview?.models.map(({ id }): [string, string] => [id, id]) ?? [];
  const keyNames = keys.data?.data.map(({ id, name }): [string, string] => [id, name]) ?? [];
  const nodes = overview?.nodes.map(({ name }): [string, string] => [name, name]) ?? [];
  return (
    <search className="card filters">
      <Text label="Id begins with" value={of('id_prefix')} onChange={set('id_prefix')} isSearch />
      <Choice
        label="Model"
        value={of('model_id')}
        onChange={set('model_id')}
        options={[['', 'any model'], ...models]}
      />
      <Choice label="State" value={of('status')} onChange={set('status')} options={states} />
      <Choice label="Outcome" value={of('outcome')} onChange={set('outcome')} options={outcomes} />
      <Choice
        label="Key"
        value={of('key_id')}
        onChange={set('key_id')}
        options={[['', 'any key'], ...keyNames]}
      />
      <Choice label="Node" value={of('node')} onChange={set('node')} options={[['', 'any node'], ...nodes]} />
      <Text label="Error code" value={of('code')} onChange={set('code')} placeholder="model_error" />
      <Text label="Tag" value={of('tag')} onChange={set('tag')} placeholder="job:17" />
      <When label="Submitted after" value={of('created_after')} onChange={set('created_after')} />
      <When label="Submitted before" value={of('created_before')} onChange={set('created_before')} />
      {[...parameters.keys()].length > 0 && (
        <div className="field">
          <span>&nbsp;</span>
          <button
            type="button"
            onClick={() =>
              setFilters(Object.fromEntries([...parameters.keys()].map((name) => [name, undefined])))
            }
          >
            Clear filters
          </button>
        </div>
      )}
    </search>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** Taken over once the writer pauses. */
export function Text({
  label,
  value,
  onChange,
  placeholder,
  isSearch = false,
}: FieldProps & { placeholder?: string; isSearch?: boolean }) {
  const [text, setText] = useState(value);
  const [taken, setTaken] = useState(value);
  // The address changed by itself, as when one goes back.
  if (taken !== value) {
    setTaken(value);
    setText(value);
  }
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), 400);
    return () => clearTimeout(timer);
  });
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type={isSearch ? 'search' : 'text'}
        data-search={isSearch ? '' : undefined}
        placeholder={placeholder}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onChange(text.trim());
        }}
      />
    </label>
  );
}

function Choice({
  label,
  value,
  onChange,
  options,
}: FieldProps & { options: readonly (readonly [string, string])[] }) {
  // What a link asked for is shown even where it is nothing that is known here.
  const isKnown = options.some(([option]) => option === value);
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={({ target }) => onChange(target.value)}>
        {!isKnown && <option value={value}>{value}</option>}
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Local for the reader, UTC in the address. */
function When({ label, value, onChange }: FieldProps) {
  const local = value === '' || Number.isNaN(Date.parse(value)) ? '' : localTime(new Date(value));
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type="datetime-local"
        value={local}
        onChange={({ target }) => onChange(target.value === '' ? '' : new Date(target.value).toISOString())}
      />
    </label>
  );
}
