import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { listKeys } from '../api/calls';
import { useLive } from '../api/live';
import { localTime } from '../format/times';
import { takeSearch } from '../parts/travel';
import { useFilters } from '../parts/use-url-state';
import { isWholeId } from '../request/filter';

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
  const [, navigate] = useLocation();
  const { overview } = useLive();
  const keys = useQuery({
    queryKey: ['keys', 'names'],
    queryFn: ({ signal }) => listKeys(undefined, signal),
    staleTime: 60_000,
  });
  const of = (name: string): string => parameters.get(name) ?? '';
  const set = (name: string) => (value: string) => setFilters({ [name]: value });
  const models = overview?.models.map(({ id }): [string, string] => [id, id]) ?? [];
  const keyNames = keys.data?.data.map(({ id, name }): [string, string] => [id, name]) ?? [];
  const nodes = overview?.nodes.map(({ name }): [string, string] => [name, name]) ?? [];
  return (
    <FilterBar
      count={[...parameters.keys()].filter((name) => name !== 'id_prefix').length}
      search={
        <Text
          label="Id begins with"
          value={of('id_prefix')}
          onChange={set('id_prefix')}
          onEnter={(id) => isWholeId(id) && navigate(`/requests/${id}`)}
          isSearch
        />
      }
    >
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
    </FilterBar>
  );
}

interface FilterBarProps {
  /** The number of `children` that have a value. */
  count: number;
  /** The field that is always shown. */
  search: ReactNode;
  children: ReactNode;
}

/** Shows all filters on a desktop. On a phone they fold into one line. */
export function FilterBar({ count, search, children }: FilterBarProps) {
  const [parameters, setFilters] = useFilters();
  const [isOpen, setOpen] = useState(false);
  const names = [...parameters.keys()];
  return (
    <search className={isOpen ? 'card filters' : 'card filters folded'}>
      {search}
      <button type="button" className="unfold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{count > 0 && ` (${count})`}
      </button>
      {children}
      {names.length > 0 && (
        <button
          type="button"
          className="plain clear"
          onClick={() => setFilters(Object.fromEntries(names.map((name) => [name, undefined])))}
        >
          Clear filters
        </button>
      )}
    </search>
  );
}

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

/** The text takes effect when the user pauses. */
export function Text({
  label,
  value,
  onChange,
  onEnter,
  placeholder,
  isSearch = false,
}: FieldProps & { onEnter?: (text: string) => void; placeholder?: string; isSearch?: boolean }) {
  const [text, setText] = useState(value);
  const [taken, setTaken] = useState(value);
  if (taken !== value) {
    setTaken(value);
    // The address changed without typing, for example by going back.
    if (text.trim() !== value) setText(value);
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
        ref={isSearch ? takeSearch : undefined}
        type={isSearch ? 'search' : 'text'}
        data-search={isSearch ? '' : undefined}
        placeholder={placeholder}
        spellCheck={false}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return;
          onChange(text.trim());
          onEnter?.(text.trim());
        }}
      />
    </label>
  );
}

export function Choice({
  label,
  value,
  onChange,
  options,
}: FieldProps & { options: readonly (readonly [string, string])[] }) {
  // A value from a link is shown even if it is not among the options.
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

/** Shows local time; the address has UTC. */
export function When({ label, value, onChange }: FieldProps) {
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
