import type { JsonSchema } from '../api/types';

/** The contents of the form fields: texts, which become JSON when they are sent. */
export interface Input {
  fields: Record<string, string>;
  /** Members that have no field, or the whole input if there is no schema. */
  json: string;
}

type Kind = 'text' | 'number' | 'boolean' | 'choice' | 'json';

export function kindOf(schema: JsonSchema): Kind {
  const types = [schema.type].flat().filter((type) => type !== undefined && type !== 'null');
  if (schema.enum !== undefined) return 'choice';
  if (types.length !== 1) return 'json';
  const type = types[0];
  if (type === 'string') return 'text';
  if (type === 'integer' || type === 'number') return 'number';
  return type === 'boolean' ? 'boolean' : 'json';
}

export const hasFields = (schema: JsonSchema | null): boolean =>
  Object.keys(schema?.properties ?? {}).length > 0;

export function emptyInput(schema: JsonSchema | null): Input {
  return { fields: {}, json: hasFields(schema) ? '' : '{\n  "prompt": "hello"\n}' };
}

/** Returns the input to send, or why it cannot be sent. */
export function inputOf(
  { fields, json }: Input,
  schema: JsonSchema | null,
): { value: object; fault?: string } {
  const value: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(fields)) {
    const property = schema?.properties?.[name];
    if (property === undefined || text === '') continue;
    const kind = kindOf(property);
    if (kind === 'text') value[name] = text;
    else if (kind === 'number') value[name] = Number(text);
    else {
      try {
        value[name] = JSON.parse(text) as unknown;
      } catch {
        return { value, fault: `“${name}” is no JSON.` };
      }
    }
  }
  if (json.trim() === '') return { value };
  try {
    const rest = JSON.parse(json) as unknown;
    if (typeof rest !== 'object' || rest === null || Array.isArray(rest))
      return { value, fault: 'The input is a JSON object.' };
    return { value: { ...value, ...rest } };
  } catch {
    return { value, fault: 'The input is no JSON yet.' };
  }
}
