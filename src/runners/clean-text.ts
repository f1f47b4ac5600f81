/** What a model said, as text that PostgreSQL can hold: no NUL, no lone surrogates, not longer than asked. */
export function cleanText(text: string, maxLength: number): string {
  const kept = text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
  return kept.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd');
}
