import { Parsed, WholeNumber } from '../tools/validation.js';
import { Duration, Required, Text } from './option-rules.js';
import { isModelId } from './model-id.js';

/** The options of one entry of the file, but for those with readers of their own. Durations in milliseconds. */
export class ModelOptions {
  @Required()
  @Parsed(modelId)
  id: string | undefined;

  @Text(2_000)
  description = '';

  @WholeNumber(1, 10_000)
  concurrency = 1;

  @Duration('7d')
  timeout = 600_000;

  @Duration('365d')
  expires: number | null = null;

  @WholeNumber(1, 100)
  attempts = 3;

  @Duration('3650d')
  retention: number | null = null;

  @Duration('3650d')
  retention_payload: number | null = null;
}

function modelId(value: unknown): string {
  if (typeof value === 'string' && isModelId(value)) return value;
  throw new Error(
    'expected 1 to 8 segments joined by "/", each of letters, digits, ".", "_" and "-" and beginning with ' +
      'a letter or digit; the first must not be "requests"',
  );
}
