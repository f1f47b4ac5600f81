import type { JsonSchema } from '../api/types';

/** The texts of the form fields. They become JSON when they are sent. */
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

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Returns the JSON to send, or why it cannot be sent. It has the numbers as they were typed, because JavaScript would
 * change a seed of 64 bits.
 */
export function inputOf(
  { fields, json }: Input,
  schema: JsonSchema | null,
): { json: string; fault?: string } {
  const members: string[] = [];
  const object = (): string => `{${members.join(',')}}`;
  for (const [name, text] of Object.entries(fields)) {
    const property = schema?.properties?.[name];
    if (property === undefined || text === '') continue;
    const kind = kindOf(property);
    if (!(kind === 'text' || kind === 'number' || isJson(text)))
      return { json: object(), fault: `“${name}” is not valid JSON.` };
    const isTyped = kind === 'number' && !jsonNumber.test(text);
    const value = kind === 'text' ? JSON.stringify(text) : isTyped ? String(Number(text)) : text.trim();
    members.push(`${JSON.stringify(name)}:${value}`);
  }
  if (json.trim() === '') return { json: object() };
  if (!isJson(json)) return { json: object(), fault: 'The input is not valid JSON.' };
  const rest = JSON.parse(json) as unknown;
  if (typeof rest !== 'object' || rest === null || Array.isArray(rest))
    return { json: object(), fault: 'The input must be a JSON object.' };
  if (members.length === 0) return { json: json.trim() };
  // The last of two members with one name counts.
  if (Object.keys(rest).length > 0) members.push(json.trim().slice(1, -1));
  return { json: object() };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
