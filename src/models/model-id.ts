const segment = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const maxSegments = 8;
const maxLength = 256;

/** Whether a text can name a model; `requests` is taken by the routes of requests. */
export function isModelId(text: string): boolean {
  if (text.length > maxLength) return false;
  const segments = text.split('/');
  return (
    segments.length <= maxSegments && segments[0] !== 'requests' && segments.every((s) => segment.test(s))
  );
}
