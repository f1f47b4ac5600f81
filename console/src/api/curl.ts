import { serviceUrl } from './base';

export interface Call {
  method?: string;
  /** Has no leading slash. */
  path: string;
  body?: unknown;
  stream?: boolean;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns a command that is safe to paste into a shell, whatever the path or the body contains. */
export function curlOf({ method = 'GET', path, body, stream = false }: Call, url = serviceUrl): string {
  const isPlain = method === (body === undefined ? 'GET' : 'POST');
  const lines = [
    `curl ${stream ? '-N ' : ''}${isPlain ? '' : `-X ${method} `}${quoted(url + path)}`,
    '-H "Authorization: Key $KEY"',
  ];
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`);
  }
  return lines.join(' \\\n  ');
}
