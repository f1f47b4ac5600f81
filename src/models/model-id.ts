const maxLength = 256;

/** Whether a text of up to 8 segments can name a model; `requests` is taken by the routes of requests. */
export function isModelId(text: string): boolean {
  const segments = /^(?!requests(\/|$))[A-Za-z0-9][\w.-]{0,63}(\/[A-Za-z0-9][\w.-]{0,63}){0,7}$/;
  return text.length <= maxLength && segments.test(text);
}
