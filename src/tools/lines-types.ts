/** The content types that lines of JSON (NDJSON) have. */
export const linesTypes: readonly string[] = [
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/jsonlines',
];
