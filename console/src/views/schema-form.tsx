import type { JsonSchema } from '../api/types';
import { hasFields, type Input, kindOf } from '../request/schema-input';

interface SchemaFormProps {
  schema: JsonSchema | null;
  input: Input;
  onChange: (input: Input) => void;
  errors: readonly { path: string; message: string }[];
}

/** Shows the members of an object as fields. Nested values are edited as JSON. */
export function SchemaForm({ schema, input, onChange, errors }: SchemaFormProps) {
  if (!hasFields(schema)) {
    return (
      <label className="field">
        <span>JSON</span>
        <textarea
          rows={8}
          spellCheck={false}
          value={input.json}
          onChange={({ target }) => onChange({ ...input, json: target.value })}
        />
      </label>
    );
  }
  return Object.entries(schema!.properties!).map(([name, property]) => (
    <Member
      key={name}
      name={name}
      schema={property}
      isRequired={schema!.required?.includes(name) ?? false}
      value={input.fields[name] ?? ''}
      error={errors.find(({ path }) => path === `/${name}`)?.message}
      onChange={(text) => onChange({ ...input, fields: { ...input.fields, [name]: text } })}
    />
  ));
}

interface MemberProps {
  name: string;
  schema: JsonSchema;
  isRequired: boolean;
  value: string;
  error: string | undefined;
  onChange: (text: string) => void;
}

function Member({ name, schema, isRequired, value, error, onChange }: MemberProps) {
  const kind = kindOf(schema);
  const standard =
    schema.default === undefined
      ? ''
      : kind === 'text'
        ? (schema.default as string)
        : JSON.stringify(schema.default);
  const common = {
    value,
    required: isRequired,
    placeholder: standard,
    'aria-invalid': error !== undefined,
    onChange: ({ target }: { target: { value: string } }) => onChange(target.value),
  };
  return (
    <label className="field">
      <span>
        <b>{name}</b>
        {isRequired ? '' : ' (optional)'}. {schema.description}
      </span>
      {kind === 'text' && (schema.maxLength === undefined || schema.maxLength > 120) ? (
        <textarea rows={2} maxLength={schema.maxLength} {...common} />
      ) : kind === 'text' ? (
        <input type="text" maxLength={schema.maxLength} {...common} />
      ) : kind === 'number' ? (
        <input
          type="number"
          min={schema.minimum}
          max={schema.maximum}
          step={[schema.type].flat().includes('integer') ? 1 : 'any'}
          {...common}
        />
      ) : kind === 'json' ? (
        <textarea rows={3} spellCheck={false} {...common} />
      ) : (
        <select {...common}>
          <option value="">{standard === '' ? 'not set' : `${standard} (default)`}</option>
          {(kind === 'boolean' ? [true, false] : schema.enum!).map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {String(choice)}
            </option>
          ))}
        </select>
      )}
      {error !== undefined && <span className="bad small">{error}</span>}
    </label>
  );
}
