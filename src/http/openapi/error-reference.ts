import { advice, type ProblemCode, problemCodes } from '../../errors/problem-codes.js';

export const viewport = '<meta name="viewport" content="width=device-width, initial-scale=1">';

/** The page that every problem's `type` points into: one anchor a code. */
export function errorReference(): string {
  const rows = Object.entries(problemCodes).map(([code, { status, title, retry }]) => {
    const cells = [`<code>${code}</code>`, status, escape(title), retry, escape(advice[code as ProblemCode])];
    return `<tr id="${code}">${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
${viewport}
<title>Now Serving: errors</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
  div { overflow-x: auto; }
  table { border-collapse: collapse; width: 100%; }
  th, td { text-align: left; vertical-align: top; padding: 0.3rem 1rem 0.3rem 0; border-bottom: 1px solid #ddd; }
  tr:target { background: #fff3bf; }
</style>
<h1>Errors</h1>
<p>Every error is <code>application/problem+json</code>. Decide by <code>code</code>; it is stable. A model's own 4xx
keeps its status, with the code <code>model_error</code>. Wait for <code>Retry-After</code> seconds where it is sent,
otherwise 1, 2, 4… seconds; whatever is not to be tried again is answered the same the next time.</p>
<div>
<table>
<thead><tr><th>code</th><th>status</th><th>meaning</th><th>try again?</th><th>what to do</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>
</div>
<p><a href="/docs">The API</a></p>
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
